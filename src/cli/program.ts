import { styleText } from 'node:util';
import { Command } from 'commander';
import type { VerticalRegistry } from '../catalogs/vertical-registry.ts';
import { escapeInvisibleCharacters, nearestWord } from '../domain/text.ts';
import { addJsonOption, attachHelp, formatHelp, hasDefaultCommand } from './command.ts';

/** Top-level commands and groups, in the order of the help. A module is loaded only when needed, because loading all modules is slow. */
const commandModules: readonly (readonly [
  name: string,
  summary: string,
  load: () => Promise<{ createCommand(registry: VerticalRegistry): Command }>,
])[] = [
  ['serve', 'run the service', () => import('./commands/serve.ts')],
  ['check-config', 'check the settings and print their values', () => import('./commands/check-config.ts')],
  ['keys', 'create, list and revoke API keys', () => import('./commands/keys.ts')],
  ['origins', 'manage which web pages may embed the widgets of an account', () => import('./commands/origins.ts')],
  ['catalog', 'validate catalogs of offers, or print statistics', () => import('./commands/catalog.ts')],
  ['analytics', 'print the figures of referrer tags, or rebuild them', () => import('./commands/analytics.ts')],
  ['tags', 'list the referrer tags of an account', () => import('./commands/tags.ts')],
  ['experiments', 'define experiments, and print their results', () => import('./commands/experiments.ts')],
  ['confirm', 'send confirmations of lenders to a running server', () => import('./commands/confirm.ts')],
  ['audit', 'print and verify the history of changes', () => import('./commands/audit.ts')],
  ['backup', 'copy the data folder', () => import('./commands/backup.ts')],
  ['log', 'verify, inspect and repair a log', () => import('./commands/log.ts')],
  ['secret', 'manage the secrets that sign and encrypt tokens', () => import('./commands/secret.ts')],
  ['capacity', 'plan how many servers a number of API keys needs', () => import('./commands/capacity.ts')],
];

/** Converts an error message of commander to the format of all other error messages: one line without the prefix `error:`. */
export function formatUsageError(text: string): string {
  const line = text
    .trimEnd()
    .replace(/^error: /, '')
    .replace(/\n\(Did you mean ([^\n]*)\?\)$/, '; did you mean $1?');
  return escapeInvisibleCharacters(line);
}

/**
 * Makes a command report missing mandatory options after all other usage errors. By default, commander reports missing options before
 * unknown options: for the misspelled option `--acount x`, commander would only report that `--account` is missing.
 */
function checkRequiredOptionsLast(command: Command): void {
  const mandatory = command.options.filter((option) => option.mandatory);
  for (const option of mandatory) option.makeOptionMandatory(false);
  command.hook('preAction', () => {
    const missing = mandatory.find((option) => command.getOptionValue(option.attributeName()) === undefined);
    if (missing !== undefined) command.error(`error: required option '${missing.flags}' not specified`);
  });
}

/**
 * Converts `help <command>` to `<command> --help`, and reports an unknown command. For an unknown command followed by `--help`, commander
 * alone would print the help of the parent command.
 */
export function normalizeArguments(root: Command, words: readonly string[]): string[] {
  let command = root;
  let helpWanted = false;
  const path: string[] = [];
  for (const word of words) {
    // Skips each option, but not the word after the option, because options of command groups have no values. Options of a group with a
    // default command belong to that command, which checks them.
    if (word.startsWith('-')) {
      if (hasDefaultCommand(command)) break;
      continue;
    }
    const isGroup = command.commands.length > 0;
    const subcommand = command.commands.find((each) => each.name() === word);
    if (subcommand !== undefined) {
      command = subcommand;
      path.push(word);
    } else if (isGroup && word === 'help') {
      helpWanted = true;
    } else if (isGroup || helpWanted) {
      failUnknownCommand(command, word);
    } else {
      break;
    }
  }
  return helpWanted ? [...path, '--help'] : [...words];
}

function failUnknownCommand(command: Command, word: string): never {
  const nearest = nearestWord(word, [...command.commands.map((each) => each.name()), 'help']);
  command.error(`error: unknown command '${word}'${nearest === null ? '' : `; did you mean ${nearest}?`}`);
}

/**
 * Creates the command line program. If `args` is given, only the commands that `args` names are loaded; all other commands have a name and
 * a summary but no options. `loadRegistry` is called only if a command is loaded. If `quiet` is true, commander throws errors but does not print them.
 */
export async function createProgram(
  version: string,
  loadRegistry: () => Promise<VerticalRegistry>,
  { quiet = false, args }: { readonly quiet?: boolean; readonly args?: readonly string[] } = {},
): Promise<Command> {
  const root = new Command('marketplace')
    .description('A marketplace service for financial offers: sessions, ranked lender offers, clicks and analytics.')
    .version(version, '-V, --version', 'print the version');
  for (const [name, summary, load] of commandModules) {
    const isNeeded = args === undefined || args.includes(name);
    const command = isNeeded ? (await load()).createCommand(await loadRegistry()) : new Command(name);
    root.addCommand(command.summary(summary));
  }
  attachHelp(root, {
    examples: [
      'marketplace serve',
      'marketplace keys create --account acme --vertical personal-loans --mode test',
      'marketplace analytics summary --account acme --tag hero-short-form',
      'marketplace help log',
    ],
    exitCodes: { 1: null, 3: null, 4: null, 130: null },
  });
  for (const command of flattenCommands(root)) {
    command
      .exitOverride()
      .helpOption('-h, --help', 'print this help')
      .configureOutput({ outputError: (text, write) => write(`${root.name()}: ${formatUsageError(text)}\n`) })
      .showHelpAfterError(`Try: ${fullCommandName(command)} --help`)
      // The library `commander` removes ANSI styles if the output is not a terminal.
      .configureHelp({ styleTitle: (title) => styleText('bold', title, { validateStream: false }) })
      .addHelpText('after', () => formatHelp(command));
    addJsonOption(command);
    checkRequiredOptionsLast(command);
    if (quiet) command.configureOutput({ writeErr: () => {} });
    if (command.commands.length > 0) command.helpCommand('help [command]', 'print the help of a command');
  }
  return root;
}

/** Returns a command and all its direct and indirect subcommands, in the order of the help. */
export function flattenCommands(command: Command): Command[] {
  return [command, ...command.commands.flatMap(flattenCommands)];
}

export function fullCommandName(command: Command): string {
  return command.parent === null ? command.name() : `${fullCommandName(command.parent)} ${command.name()}`;
}
