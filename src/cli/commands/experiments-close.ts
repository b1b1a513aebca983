import type { Command } from 'commander';
import type { VerticalRegistry } from '../../catalogs/vertical-registry.ts';
import { experimentOutcomes } from '../../experiments/experiment.ts';
import { createChoiceOption, defineCommand } from '../command.ts';
import { printJson, printResult } from '../output.ts';
import { addServerOptions, type ServerOptions, sendExperimentRequest } from './experiment-client.ts';
import { experimentJsonMembers, formatExperiment } from './experiment-text.ts';
import { parseExperimentName } from './experiments-create.ts';

interface CloseOptions extends ServerOptions {
  readonly outcome: string;
  readonly arm?: string;
  readonly note?: string;
  readonly json?: true;
}

export function closeExperimentCommand(registry: VerticalRegistry): Command {
  const command = defineCommand('close', {
    summary: 'close an experiment on a running server',
    description:
      'Stores the outcome of an experiment with its results of this moment, with POST /experiments/{name}/close of a running server. A closed ' +
      'experiment counts no new sessions and cannot change.',
    examples: ['marketplace experiments close first-form --key-file partner.key --outcome ship --arm form-b'],
    json: `one object, ${experimentJsonMembers}`,
  })
    .argument('<name>', 'name of the experiment', parseExperimentName)
    .addOption(createChoiceOption('--outcome <outcome>', 'what you decided', experimentOutcomes).makeOptionMandatory())
    .option('--arm <tag>', 'referrer tag of the arm that the outcome is about')
    .option('--note <text>', 'your note');
  return addServerOptions(command).action(async (name: string, options: CloseOptions) => {
    const { outcome, arm, note } = options;
    const experiment = await sendExperimentRequest(options, registry, 'POST', `${name}/close`, { outcome, arm, note });
    if (options.json) printJson(experiment);
    else printResult(formatExperiment(experiment));
  });
}
