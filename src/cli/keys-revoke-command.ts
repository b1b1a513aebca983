import { Command } from 'commander';
import { guided } from './guide.ts';
import { issuedKeyMembers } from './issued-key-members.ts';

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
  return guided(command, {
    examples: [
      'marketplace keys revoke key_0123456789ab',
      `marketplace keys list --json | jq -r '.[] | select(.account == "acme") | .id' | xargs -n 1 marketplace keys revoke`,
    ],
    exits: { 0: 'it is revoked, now or before', 1: null },
    json: {
      prints: 'one object',
      members: { ...issuedKeyMembers, revoked_before: 'whether it had been revoked already' },
    },
  });
}
