import { Command } from 'commander';
import { guided } from './guide.ts';
import { issuedKeyMembers } from './issued-key-members.ts';

export function keysListCommand(): Command {
  const command = new Command('list')
    .summary('list all keys, without the keys themselves')
    .description("Lists all keys ever issued, oldest first. A limit shown as - is the service's default.")
    .option('--json', 'print an array of JSON objects')
    .action(async (options: { readonly json?: true }) => {
      const { listKeys } = await import('./keys-list.ts');
      listKeys(options);
    });
  return guided(command, {
    examples: [
      'marketplace keys list',
      `marketplace keys list --json | jq -r '.[] | select(.state == "active") | .id'`,
    ],
    exits: { 1: null },
    json: { prints: 'an array with an object for each key, oldest first', members: issuedKeyMembers },
  });
}
