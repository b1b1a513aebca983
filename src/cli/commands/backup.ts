import { Command } from 'commander';
import { withHelp } from '../command-help.ts';

export function backupCommand(): Command {
  const command = new Command('backup')
    .summary('copy all that is kept into another folder')
    .description(
      'Copies the data folder into a new or empty folder, in which a server can start as it is. A server may be running: all that it ' +
        'had acknowledged when the copy began is in it. The logs are checked as they are copied. The analytics store is left out, since ' +
        'the first start derives it again; a secret file that SVC_SECRET_FILE has elsewhere is left out, too. Otherwise the copy has the ' +
        'secrets: keep it as safe as the original.',
    )
    .argument('<folder>', 'where to; made when missing')
    .option('--json', 'print one JSON object')
    .action(async (folder: string, options: { readonly json?: true }) => {
      const { backUpDataFolder } = await import('../actions/backup.ts');
      await backUpDataFolder(folder, options);
    });
  return withHelp(command, {
    examples: [
      'marketplace backup /backup/marketplace/2026-11-21',
      'marketplace backup /backup/marketplace/2026-11-22 --json | jq .ledger_records',
    ],
    exitCodes: { 1: null, 3: null, 130: null },
    json: {
      output: 'one object',
      members: {
        folder: 'where the copy is',
        ledger_records: 'how many records of the ledger it holds',
        has_secrets: 'false where the secret file lies outside the data folder',
      },
    },
  });
}
