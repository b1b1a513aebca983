import { type Command, InvalidArgumentError } from 'commander';
import { bounds } from '../../bounds.ts';
import type { VerticalRegistry } from '../../catalogs/vertical-registry.ts';
import { readDataDir } from '../../config/config.ts';
import { isJsonObject } from '../../domain/assert-options.ts';
import { daysSinceEpoch, formatIsoDate } from '../../domain/calendar.ts';
import { isReferrerTag } from '../../sessions/referrer-tags.ts';
import { CommandLineError, createChoiceOption, defineCommand } from '../command.ts';
import { readFolderClock } from '../folder-clock.ts';
import { printJson, printResult } from '../output.ts';
import { parseJsonOrNull } from './confirmation-client.ts';
import { addServerOptions, readTextFile, type ServerOptions, sendExperimentRequest } from './experiment-client.ts';
import { experimentJsonMembers, formatExperiment } from './experiment-text.ts';

export function createExperimentCommand(registry: VerticalRegistry): Command {
  const command = defineCommand('create', {
    summary: 'define an experiment on a running server',
    description:
      'Defines an experiment, or changes it, with PUT /experiments/{name} of a running server. The file contains the members of the request ' +
      'body as JSON (docs/contract.md#definition-of-an-experiment), also those without an option: labels and dimensions. Options replace ' +
      'members of the file. Without a file, at least two arms are required.',
    examples: [
      'marketplace experiments create short-form --key-file partner.key --arm hero-long-form=0.5 --arm hero-short-form=0.5',
      'marketplace experiments create new-form experiment.json --key-file partner.key --min-effect-percent 5',
    ],
    json: `one object, ${experimentJsonMembers}`,
  })
    .argument('<name>', 'name of the experiment', parseExperimentName)
    .argument('[file]', 'JSON file with members of the definition')
    .option('--arm <tag=weight>', 'referrer tag and weight of an arm; repeat the option for each arm', collectArm)
    .option('--control <tag>', 'tag of the control (default: the first arm)')
    .addOption(
      createChoiceOption('--unit <unit>', 'what is assigned to an arm (default: session)', ['session', 'visitor']),
    )
    .addOption(
      createChoiceOption(
        '--assignment <rule>',
        'how visitors are assigned to arms: by a rule of your own, or by the hash of the service (default: own)',
        ['own', 'hash'],
      ),
    )
    .option('--starts-on <date>', 'first UTC day (default: today)')
    .option('--ends-on <date>', 'last UTC day (default: no planned end)')
    .option(
      '--min-effect-percent <number>',
      'smallest difference that matters, in percent of the revenue per session of the control',
      parseNumber,
    )
    .option('--cap-usd <number>', 'largest revenue of a session that counts, in USD', parseNumber)
    .option('--hypothesis <text>', 'what you expect');
  return addServerOptions(command).action((name: string, file: string | undefined, options: CreateOptions) =>
    defineOnServer(registry, name, file, options),
  );
}

export function parseExperimentName(text: string): string {
  if (isReferrerTag(text)) return text;
  throw new InvalidArgumentError('The name must have 3 to 64 lower-case letters, digits, underscores or hyphens.');
}

function parseNumber(text: string): number {
  const value = /^\d+(\.\d+)?$/.test(text) ? Number(text) : Number.NaN;
  if (Number.isFinite(value)) return value;
  throw new InvalidArgumentError('The value must be a number like 10 or 2.5.');
}

interface Arm {
  readonly referrer_tag: string;
  readonly weight: number;
}

function collectArm(text: string, earlier: readonly Arm[] = []): readonly Arm[] {
  const [, tag, weight] = /^([^=]+)=(\d*\.?\d+)$/.exec(text) ?? [];
  if (isReferrerTag(tag)) return [...earlier, { referrer_tag: tag, weight: Number(weight) }];
  throw new InvalidArgumentError('The value must be a referrer tag and its weight, like hero-short-form=0.5.');
}

interface CreateOptions extends ServerOptions {
  readonly arm?: readonly Arm[];
  readonly control?: string;
  readonly unit?: string;
  readonly assignment?: string;
  readonly startsOn?: string;
  readonly endsOn?: string;
  readonly minEffectPercent?: number;
  readonly capUsd?: number;
  readonly hypothesis?: string;
  readonly json?: true;
}

async function defineOnServer(
  registry: VerticalRegistry,
  name: string,
  file: string | undefined,
  options: CreateOptions,
): Promise<void> {
  const members = file === undefined ? {} : readDefinition(file);
  const given = {
    arms: options.arm,
    control: options.control,
    unit: options.unit,
    assignment: options.assignment,
    starts_on: options.startsOn,
    ends_on: options.endsOn,
    min_effect_percent: options.minEffectPercent,
    cap_usd: options.capUsd,
    hypothesis: options.hypothesis,
  };
  const defaults = {
    control: options.arm?.[0]?.referrer_tag,
    unit: 'session',
    starts_on: formatIsoDate(daysSinceEpoch(readFolderClock(readDataDir()).wallMs())),
  };
  const body = {
    ...defaults,
    ...members,
    ...Object.fromEntries(Object.entries(given).filter(([, value]) => value !== undefined)),
  };
  const experiment = await sendExperimentRequest(options, registry, 'PUT', name, body);
  if (options.json) printJson(experiment);
  else printResult(formatExperiment(experiment));
}

/** Reads a JSON file with members of a definition. */
function readDefinition(file: string): Readonly<Record<string, unknown>> {
  const value = parseJsonOrNull(readTextFile(file, bounds.requestBodyBytesMax));
  if (isJsonObject(value)) return value;
  throw new CommandLineError(`${file} does not contain a JSON object with the members of an experiment`);
}
