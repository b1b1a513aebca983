import type { Command } from 'commander';
import type { VerticalRegistry } from '../../catalogs/vertical-registry.ts';
import { readDataDir } from '../../config/config.ts';
import { daysSinceEpoch } from '../../domain/calendar.ts';
import {
  CommandLineError,
  createCommandGroup,
  createModeOption,
  createVerticalOption,
  defineCommand,
  parseAccountName,
  type TenantOptions,
} from '../command.ts';
import { readFolderClock } from '../folder-clock.ts';
import { printJson, printResult } from '../output.ts';
import { withStoredAnalytics } from './analytics.ts';
import { formatResults } from './experiment-text.ts';
import { findAccountNumber } from './keys.ts';

export function createCommand({ verticals }: VerticalRegistry): Command {
  const results = defineCommand('results', {
    summary: 'compare the arms of an experiment',
    description:
      'Prints the results of an experiment, as GET /experiments/{name}/results does: a sentence, the arms, their comparison with the control, ' +
      'and what to look at. The command reads the analytics store of the data folder (SVC_DATA_DIR, or ./data), also while a server runs.',
    examples: [
      'marketplace experiments results hero-test --account acme',
      'marketplace experiments results hero-test --account acme --json | jq -r .sentence',
    ],
    json:
      'one object, as in the API (docs/api.md): name, state, decision, sentence, as_of, planned_day, retrospective, unit, control, ' +
      'fill_progress, warnings, left_out, arms, comparisons, split_check, guardrails, series, as_of_position',
  })
    .argument('<name>', 'name of the experiment')
    .requiredOption('--account <name>', 'account of the experiment', parseAccountName)
    .addOption(
      createVerticalOption('vertical of the experiment', verticals).default(verticals[0], verticals[0]!.segment),
    )
    .addOption(createModeOption('experiment of live keys or of test keys').default('live'))
    .action(printResults);
  return createCommandGroup('experiments', 'Prints the results of experiments.', [results]);
}

async function printResults(name: string, { account, vertical, mode, json }: TenantOptions): Promise<void> {
  const dataDir = readDataDir();
  const tenant = { account: findAccountNumber(dataDir, account), vertical: vertical.number, mode };
  const today = daysSinceEpoch(readFolderClock(dataDir).wallMs());
  await withStoredAnalytics(dataDir, async (analytics) => {
    const results = await analytics.getExperimentResults({ ...tenant, name, today, withSeries: true });
    if (results === null)
      throw new CommandLineError('this account, vertical and mode have no experiment with this name');
    if (json) printJson({ ...results, as_of_position: analytics.appliedPosition });
    else printResult(formatResults(results));
  });
}
