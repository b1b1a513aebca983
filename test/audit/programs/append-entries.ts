import process from 'node:process';
import { serviceActor } from '../../../src/audit/audit-log.ts';
import { auditLogPath, SqliteAuditLog } from '../../../src/audit/sqlite-audit-log.ts';
import { bounds } from '../../../src/bounds.ts';

/** Appends entries to the audit log of a folder. Arguments: folder, subject, number of entries. */
const [, , folder, subject, count] = process.argv;
const log = new SqliteAuditLog(auditLogPath(folder!), bounds.auditCommandLockTimeoutMs);
for (let i = 0; i < Number(count); i++) {
  log.append([{ timeMs: i, actor: serviceActor, action: 'key.create', subject: subject!, details: {} }]);
}
log.close();
