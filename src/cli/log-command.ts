import { Command } from 'commander';
import { withHelp } from './guide.ts';
import { logInspectCommand } from './log-inspect-command.ts';
import { logRepairCommand } from './log-repair-command.ts';
import { logVerifyCommand } from './log-verify-command.ts';

export function logCommand(): Command {
  const command = new Command('log')
    .summary('verify, inspect and repair the ledger')
    .description(
      'Verifies, shows and repairs a log: the ledger of the data folder (SVC_DATA_DIR, or ./data), or that of any folder.',
    )
    .addCommand(logVerifyCommand())
    .addCommand(logInspectCommand())
    .addCommand(logRepairCommand());
  return withHelp(command, {
    examples: [
      'marketplace log verify',
      'marketplace log inspect --from 1000 --count 5',
      'marketplace log repair --cut 0000000000000001.log:4096',
    ],
    exitCodes: { 1: null, 3: null, 130: null },
  });
}
