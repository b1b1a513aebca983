import { Command } from 'commander';
import { withHelp } from '../command-help.ts';

export function backupCommand(): Command {
  const command = new Command('backup')
    .summary('copy the data folder')
    .description(
      'Copies the data folder into a new or empty folder, in which a server can start. A server may be running: the copy contains everything ' +
        'that it had acknowledged before the backup started. The logs are verified while they are copied. The analytics store is not copied, ' +
        'because the first start rebuilds it. A secret file outside the data folder (SVC_SECRET_FILE) is not copied either. Otherwise the copy ' +
        'contains the secrets: protect it like the original.',
    )
    .argument('<folder>', 'target folder; created if it does not exist')
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
        folder: 'path of the copy',
        ledger_records: 'number of ledger records in the copy',
        has_secrets: 'false if the secret file is outside the data folder',
      },
    },
  });
}
