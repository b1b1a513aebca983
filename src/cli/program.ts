import { styleText } from 'node:util';
import { Command } from 'commander';
import { analyticsCommand } from './analytics-command.ts';
import { backupCommand } from './backup-command.ts';
import { capacityCommand } from './capacity-command.ts';
import { catalogCommand } from './catalog-command.ts';
import { checkConfigCommand } from './check-config-command.ts';
import { confirmCommand } from './confirm-command.ts';
import { exitCodesHelp } from './exit-codes.ts';
import { keysCommand } from './keys-command.ts';
import { logCommand } from './log-command.ts';
import { originsCommand } from './origins-command.ts';
import { secretCommand } from './secret-command.ts';
import { serveCommand } from './serve-command.ts';

/** The whole command line. It throws commander's errors instead of ending the process. */
export function program(version: string): Command {
  const root = new Command('marketplace')
    .description('A marketplace service for financial offers: sessions, ranked lender offers, clicks and analytics.')
    .version(version, '-V, --version', 'print the version')
    .addCommand(serveCommand())
    .addCommand(keysCommand())
    .addCommand(originsCommand())
    .addCommand(catalogCommand())
    .addCommand(logCommand())
    .addCommand(analyticsCommand())
    .addCommand(backupCommand())
    .addCommand(secretCommand())
    .addCommand(confirmCommand())
    .addCommand(capacityCommand())
    .addCommand(checkConfigCommand())
    .addHelpText(
      'after',
      `
Examples:
  $ marketplace serve
  $ marketplace keys create --account acme --vertical personal-loans --mode test
  $ marketplace origins allow --account acme https://www.example.com
  $ marketplace catalog validate offers.json
  $ marketplace log verify
  $ marketplace backup /backup/marketplace/today
  $ marketplace confirm payouts.csv
  $ marketplace capacity --keys 1000 --slo-p99 50
  $ marketplace check-config`,
    );
  for (const command of family(root)) {
    command
      .exitOverride()
      .helpOption('-h, --help', 'print this help')
      .showHelpAfterError(`Try: ${pathOf(command)} --help`)
      // Commander drops the styles where the output is not a terminal.
      .configureHelp({ styleTitle: (title) => styleText('bold', title, { validateStream: false }) })
      .addHelpText('after', exitCodesHelp);
    if (command.commands.length > 0) command.helpCommand('help [command]', 'print the help of a command');
  }
  return root;
}

function family(command: Command): Command[] {
  return [command, ...command.commands.flatMap(family)];
}

function pathOf(command: Command): string {
  return command.parent === null ? command.name() : `${pathOf(command.parent)} ${command.name()}`;
}
