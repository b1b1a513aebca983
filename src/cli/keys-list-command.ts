import { Command } from 'commander';
import { withHelp } from './guide.ts';
import { keyJsonMembers } from './issued-key-members.ts';

export function keysListCommand(): Command {
  const command = new Command('list')
    .summary('list all keys, without the keys themselves')
    .description("Lists all keys ever issued, oldest first. A limit shown as - is the service's default.")
    .option('--json', 'print an array of JSON objects')
    .action(async (options: { readonly json?: true }) => {
      const { printKeys } = await import('./keys-list.ts');
      printKeys(options);
    });
  return withHelp(command, {
    examples: [
      'marketplace keys list',
      `marketplace keys list --json | jq -r '.[] | select(.state == "active") | .id'`,
    ],
    exitCodes: { 1: null },
    json: { output: 'an array with an object for each key, oldest first', members: keyJsonMembers },
  });
}
