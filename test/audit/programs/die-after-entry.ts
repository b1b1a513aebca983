import process from 'node:process';
import { type RecordChange, serviceActor } from '../../../src/audit/audit-log.ts';
import { auditLogPath, SqliteAuditLog } from '../../../src/audit/sqlite-audit-log.ts';
import { keyFilePath } from '../../../src/auth/key-file.ts';
import { KeyRegistry } from '../../../src/auth/key-registry.ts';
import { defaultLimitOverrides } from '../../../src/auth/rate-limits.ts';
import { addSecret } from '../../../src/secrets/secret-file.ts';
import { personalLoans } from '../../../src/verticals/personal-loans/personal-loans.ts';

/**
 * Changes a data folder, and is killed when the entry of the change is durable but the change has not happened. Arguments: data folder,
 * change.
 */
const [, , folder, change] = process.argv;
const log = new SqliteAuditLog(auditLogPath(folder!), 1_000);
const dieAfterEntry: RecordChange = (action, subject, details = {}) => {
  log.append([{ timeMs: Date.now(), actor: serviceActor, action, subject, details }]);
  process.kill(process.pid, 'SIGKILL');
  // The signal arrives before the next line.
  for (;;);
};
if (change === 'key') {
  const limits = defaultLimitOverrides;
  const scope = { mode: 'live', scope: 'full' } as const;
  const newKey = { accountName: 'killed', vertical: personalLoans, ...scope, expiresAtMs: null, limits };
  new KeyRegistry(keyFilePath(folder!)).create(newKey, Date.now(), dieAfterEntry);
} else {
  addSecret(`${folder}/secrets.json`, (number) => dieAfterEntry('secret.rotate', `secret ${number}`));
}
