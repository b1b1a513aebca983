import { Command, Help, InvalidArgumentError, Option } from 'commander';
import { isValidAccountName } from '../auth/api-key.ts';
import { bounds } from '../bounds.ts';
import type { ApiKeyMode } from '../domain/mode.ts';
import { OperatorError } from '../domain/operator-error.ts';
import { nearestWord } from '../domain/text.ts';
import type { Vertical } from '../domain/vertical.ts';
import { formatNameValuePairs } from './output.ts';

/** Exit codes of all commands. If a signal ends a command, the exit code is 128 plus the signal number. */
export const exitCodes = { success: 0, failure: 1, usage: 2, damage: 3, incomplete: 4, interrupted: 130 } as const;
export type ExitCode = (typeof exitCodes)[keyof typeof exitCodes];

/** Default meaning of each exit code, which `CommandHelp.exitCodes` can replace for one command. */
const exitMeanings: Readonly<Record<ExitCode, string>> = {
  [exitCodes.success]: 'success',
  [exitCodes.failure]: 'failure; the reason is on standard error',
  [exitCodes.usage]: 'invalid command line',
  [exitCodes.damage]: 'a log is damaged',
  [exitCodes.incomplete]: 'completed, but some rows were rejected',
  [exitCodes.interrupted]: 'interrupted by Ctrl-C (143: by SIGTERM)',
};

/** Expected failure of a command. The process ends with `exitCode`. */
export class CommandLineError extends OperatorError {
  override readonly name = 'CommandLineError';
  readonly exitCode: ExitCode;

  constructor(
    message: string,
    { exitCode = exitCodes.failure, ...options }: ErrorOptions & { exitCode?: ExitCode } = {},
  ) {
    super(message, options);
    this.exitCode = exitCode;
  }
}

/** Parts of the help that follow the description, arguments and options of a command. */
export interface CommandHelp {
  /** Example command lines. Tests run all examples. */
  readonly examples: readonly string[];
  /** Exit codes in the help, with their meanings (null: the default meaning). The help always lists the exit codes 0, 1 and 2. */
  readonly exitCodes?: { readonly [Code in ExitCode]?: string | null };
  /** Description of the output with `--json`, a colon, and the names of the JSON members. If present, the command has the option `--json`. */
  readonly json?: string;
}

const helpByCommand = new WeakMap<Command, CommandHelp>();

export function attachHelp(command: Command, help: CommandHelp): Command {
  helpByCommand.set(command, help);
  return command;
}

/** Description and help of a command that `defineCommand` creates. */
export interface CommandDefinition extends CommandHelp {
  /** Short description for the list of commands. The short descriptions of top-level commands are in `program.ts`. */
  readonly summary?: string;
  readonly description: string;
}

/** Creates a command with a name and help. The caller adds arguments, options and the action to the returned command. */
export function defineCommand(name: string, { summary = '', description, ...help }: CommandDefinition): Command {
  return attachHelp(new Command(name).summary(summary).description(description), help);
}

/**
 * Creates a command group. The help of the command group lists the first example of each command, and the exit codes of all commands.
 *
 * @param defaultCommand command that runs if the command line names no command of the group; null to print the help
 */
export function createCommandGroup(
  name: string,
  description: string,
  commands: readonly Command[],
  defaultCommand: Command | null = null,
): Command {
  const group = new Command(name).description(description);
  for (const command of commands) group.addCommand(command, { isDefault: command === defaultCommand });
  if (defaultCommand !== null) groupsWithDefault.add(group);
  const codes = commands.flatMap(exitCodesOf).filter(([code]) => code !== exitCodes.success);
  return attachHelp(group, {
    examples: commands.map((command) => getCommandHelp(command).examples[0]!),
    exitCodes: Object.fromEntries(codes.map(([code]) => [code, null])),
  });
}

const groupsWithDefault = new WeakSet<Command>();

export function hasDefaultCommand(command: Command): boolean {
  return groupsWithDefault.has(command);
}

export function getCommandHelp(command: Command): CommandHelp {
  const help = helpByCommand.get(command);
  if (help === undefined) throw new Error(`the command ${command.name()} has no help`);
  return help;
}

/** Adds the option `--json` after all other options, if the help of a command describes its JSON output. */
export function addJsonOption(command: Command): void {
  const json = helpByCommand.get(command)?.json;
  if (json === undefined || command.options.some(({ long }) => long === '--json')) return;
  const shape = json.startsWith('array') ? 'an array of JSON objects' : 'one JSON object';
  command.option('--json', `print ${shape}${json.startsWith('one object per line') ? ' per line' : ''}`);
}

/** Returns the exit codes of a command with their meanings, sorted by code. */
export function exitCodesOf(command: Command): (readonly [code: number, meaning: string])[] {
  const own = getCommandHelp(command).exitCodes ?? {};
  const codes = { [exitCodes.success]: null, [exitCodes.failure]: null, [exitCodes.usage]: null, ...own };
  return Object.entries(codes).map(([code, meaning]) => [
    Number(code),
    meaning ?? exitMeanings[Number(code) as ExitCode],
  ]);
}

const helpColumns = 100;

/** Formats the last part of the help, after the list of options: JSON output, examples and exit codes. */
export function formatHelp(command: Command): string {
  const { json, examples } = getCommandHelp(command);
  const parts: string[] = [];
  if (json !== undefined) {
    const lines = new Help().boxWrap(json, helpColumns - 2);
    parts.push(`With --json:\n${lines.replaceAll(/^/gm, '  ')}`);
  }
  parts.push(`Examples:\n${examples.map((line) => `  $ ${line}`).join('\n')}`);
  const exits = exitCodesOf(command).map(([code, meaning]) => [`  ${code}`, meaning] as const);
  const width = Math.max(...exits.map(([code]) => code.length));
  parts.push(`Exit codes:\n${formatNameValuePairs(exits, width + 2)}`);
  return `\n${parts.join('\n\n')}`;
}

export function parseAccountName(text: string): string {
  if (isValidAccountName(text)) return text;
  throw new InvalidArgumentError(
    `An account name must have 1 to ${bounds.accountNameCharactersMax} printable characters, without spaces at either end.`,
  );
}

/** Creates an option that allows only the listed values. For an invalid value, the error message suggests the nearest allowed value. */
export function createChoiceOption<Value>(
  flags: string,
  description: string,
  values: readonly Value[],
  nameOf: (value: Value) => string = String,
): Option {
  const names = values.map(nameOf);
  return new Option(flags, description).choices(names).argParser((text) => {
    const index = names.indexOf(text);
    if (index >= 0) return values[index];
    const nearest = nearestWord(text, names);
    const hint = nearest === null ? '' : ` Did you mean ${nearest}?`;
    throw new InvalidArgumentError(`Allowed choices are ${names.join(', ')}.${hint}`);
  });
}

/** Options that name the keys or sessions of one account, vertical and mode. */
export interface TenantOptions {
  readonly account: string;
  readonly vertical: Vertical;
  readonly mode: ApiKeyMode;
  readonly json?: true;
}

export function createVerticalOption(description: string, verticals: readonly Vertical[]): Option {
  return createChoiceOption('--vertical <segment>', description, verticals, ({ segment }) => segment);
}

export function createModeOption(description: string): Option {
  return createChoiceOption('--mode <mode>', description, ['live', 'test']);
}

/** Creates an option parser for integers from 1 to `max`. */
export function createIntegerParser(max: number): (text: string) => number {
  return (text) => {
    const value = /^\d{1,16}$/.test(text) ? Number(text) : 0;
    if (value >= 1 && value <= max) return value;
    throw new InvalidArgumentError(`The value must be an integer from 1 to ${max}.`);
  };
}
