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

/** What commander says of a wrong command line, in the form of all other errors: one line, whatever was typed, without a prefix. */
export function formatUsageError(text: string): string {
  const line = text
    .trimEnd()
    .replace(/^error: /, '')
    .replace(/\n\(Did you mean ([^\n]*)\?\)$/, '; did you mean $1?');
  return escapeInvisible(line);
}

/**
 * Has a command look for its mandatory options last. Commander does so before it looks for options that it does not know, and so says
 * of `--acount x` only that `--account` is missing.
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
 * The words of a command line, of which those that lead to a command are judged: one that is the name of none ends it as wrongly used.
 * Commander, left to itself, answers `help` and `--help` behind such a word with the help of the command above. `help` ahead of a
 * command, however deep, comes back as `--help` behind it.
 */
export function normalizeArguments(root: Command, words: readonly string[]): string[] {
  let command = root;
  let helpWanted = false;
  const path: string[] = [];
  for (const word of words) {
    // None of the options of a command with others below it takes a value.
    if (word.startsWith('-')) continue;
    const isGroup = command.commands.length > 0;
    const named = command.commands.find((each) => each.name() === word);
    if (named !== undefined) {
      command = named;
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
  const meant = nearestWord(word, [...command.commands.map((each) => each.name()), 'help']);
  command.error(`error: unknown command '${word}'${meant === null ? '' : `; did you mean ${meant}?`}`);
}

/**
 * The whole command line, without the work of any command: that is loaded when the command runs. It throws commander's errors
 * instead of ending the process; `quiet`, it leaves them to be told by whoever catches them.
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
      // Commander drops the styles where the output is not a terminal.
      .configureHelp({ styleTitle: (title) => styleText('bold', title, { validateStream: false }) })
      .addHelpText('after', () => formatHelp(command));
    checkRequiredOptionsLast(command);
    if (quiet) command.configureOutput({ writeErr: () => {} });
    if (command.commands.length > 0) command.helpCommand('help [command]', 'print the help of a command');
  }
  return root;
}

/** A command and all below it, in the order of the help. */
export function withSubcommands(command: Command): Command[] {
  return [command, ...command.commands.flatMap(withSubcommands)];
}

export function commandPath(command: Command): string {
  return command.parent === null ? command.name() : `${commandPath(command.parent)} ${command.name()}`;
}
