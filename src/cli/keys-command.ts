import { Command } from 'commander';
import { withHelp } from './guide.ts';
import { keysCreateCommand } from './keys-create-command.ts';
import { keysListCommand } from './keys-list-command.ts';
import { keysRevokeCommand } from './keys-revoke-command.ts';

export function keysCommand(): Command {
  const command = new Command('keys')
    .summary('issue, list and revoke API keys')
    .description(
      'Issues, lists and revokes API keys, in the key file of the data folder (SVC_DATA_DIR, or ./data). A server may be running.',
    )
    .addCommand(keysCreateCommand())
    .addCommand(keysListCommand())
    .addCommand(keysRevokeCommand());
  return withHelp(command, {
    examples: [
      'marketplace keys create --account acme --vertical personal-loans --mode test',
      'marketplace keys list',
      'marketplace keys revoke key_0123456789ab',
    ],
    exitCodes: { 1: null },
  });
}
