import { styleText } from 'node:util';
import { Command } from 'commander';
import { escapeInvisible, nearestWord } from '../domain/text.ts';
import { formatHelp, withHelp } from './command-help.ts';
import { analyticsCommand } from './commands/analytics.ts';
import { backupCommand } from './commands/backup.ts';
import { capacityCommand } from './commands/capacity.ts';
import { catalogCommand } from './commands/catalog.ts';
import { checkConfigCommand } from './commands/check-config.ts';
import { confirmCommand } from './commands/confirm.ts';
import { keysCommand } from './commands/keys.ts';
import { logCommand } from './commands/log.ts';
import { originsCommand } from './commands/origins.ts';
import { secretCommand } from './commands/secret.ts';
import { serveCommand } from './commands/serve.ts';

/** Converts an error message of commander to the format of all other errors: one line without the prefix `error:`. */
export function formatUsageError(text: string): string {
  const line = text
    .trimEnd()
    .replace(/^error: /, '')
    .replace(/\n\(Did you mean ([^\n]*)\?\)$/, '; did you mean $1?');
  return escapeInvisible(line);
}

/**
 * Makes a command check its mandatory options after all other arguments. Commander would check them before unknown options, so that the
 * error for `--acount x` would only be that `--account` is missing.
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
 * Reports an unknown command. Also converts `help <command>` to `<command> --help`. For an unknown command with `help` or `--help`,
 * commander would otherwise print the help of the parent command.
 */
export function normalizeArguments(root: Command, words: readonly string[]): string[] {
  let command = root;
  let helpWanted = false;
  const path: string[] = [];
  for (const word of words) {
    // Options are skipped; no command with subcommands has an option that takes a value.
    if (word.startsWith('-')) continue;
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
 * Creates the command line program. The modules that implement a command are loaded when the command runs. Errors of commander are
 * thrown. With `quiet`, commander does not print errors.
 */
export function createProgram(version: string, { quiet = false } = {}): Command {
  const root = new Command('marketplace')
    .description('A marketplace service for financial offers: sessions, ranked lender offers, clicks and analytics.')
    .version(version, '-V, --version', 'print the version')
    .addCommand(serveCommand())
    .addCommand(checkConfigCommand())
    .addCommand(keysCommand())
    .addCommand(originsCommand())
    .addCommand(catalogCommand())
    .addCommand(analyticsCommand())
    .addCommand(confirmCommand())
    .addCommand(backupCommand())
    .addCommand(logCommand())
    .addCommand(secretCommand())
    .addCommand(capacityCommand());
  withHelp(root, {
    examples: [
      'marketplace serve',
      'marketplace keys create --account acme --vertical personal-loans --mode test',
      'marketplace analytics summary --account acme --tag hero-short-form',
      'marketplace help log',
    ],
    exitCodes: { 1: null, 3: null, 4: null, 130: null },
  });
  for (const command of withSubcommands(root)) {
    command
      .exitOverride()
      .helpOption('-h, --help', 'print this help')
      .configureOutput({ outputError: (text, write) => write(`${root.name()}: ${formatUsageError(text)}\n`) })
      .showHelpAfterError(`Try: ${commandPath(command)} --help`)
      // Commander removes the styles if the output is not a terminal.
      .configureHelp({ styleTitle: (title) => styleText('bold', title, { validateStream: false }) })
      .addHelpText('after', () => formatHelp(command));
    checkRequiredOptionsLast(command);
    if (quiet) command.configureOutput({ writeErr: () => {} });
    if (command.commands.length > 0) command.helpCommand('help [command]', 'print the help of a command');
  }
  return root;
}

/** Returns a command and all its subcommands, in the order of the help. */
export function withSubcommands(command: Command): Command[] {
  return [command, ...command.commands.flatMap(withSubcommands)];
}

export function commandPath(command: Command): string {
  return command.parent === null ? command.name() : `${commandPath(command.parent)} ${command.name()}`;
}
