import { styleText } from 'node:util';
import { Command } from 'commander';
import { analyticsCommand } from './analytics-command.ts';
import { backupCommand } from './backup-command.ts';
import { capacityCommand } from './capacity-command.ts';
import { catalogCommand } from './catalog-command.ts';
import { checkConfigCommand } from './check-config-command.ts';
import { confirmCommand } from './confirm-command.ts';
import { withHelp, formatHelp } from './guide.ts';
import { keysCommand } from './keys-command.ts';
import { logCommand } from './log-command.ts';
import { originsCommand } from './origins-command.ts';
import { checkRequiredOptionsLast } from './required-options.ts';
import { secretCommand } from './secret-command.ts';
import { serveCommand } from './serve-command.ts';
import { formatUsageError } from './usage-message.ts';

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
