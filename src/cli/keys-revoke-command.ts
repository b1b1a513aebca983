import { Command } from 'commander';
import { withHelp } from './guide.ts';
import { keyJsonMembers } from './issued-key-members.ts';

export function keysRevokeCommand(): Command {
  const command = new Command('revoke')
    .summary('end a key for good')
    .description('Ends a key for good. A running server refuses it within two seconds.')
    .argument('<id>', 'the id of the key, as listed; not the key itself')
    .option('--json', 'print one JSON object')
    .action(async (id: string, options: { readonly json?: true }) => {
      const { revokeKey } = await import('./keys-revoke.ts');
      revokeKey(id, options);
    });
  return withHelp(command, {
    examples: [
      'marketplace keys revoke key_0123456789ab',
      `marketplace keys list --json | jq -r '.[] | select(.account == "acme") | .id' | xargs -n 1 marketplace keys revoke`,
    ],
    exitCodes: { 0: 'it is revoked, now or before', 1: null },
    json: {
      output: 'one object',
      members: { ...keyJsonMembers, revoked_before: 'whether it had been revoked already' },
    },
  });
}
