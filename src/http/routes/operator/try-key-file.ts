import { AuditLogUnavailableError } from '../../../audit/audit-log.ts';
import { EmbedOriginError } from '../../../auth/embed-origin-registry.ts';
import { bounds } from '../../../bounds.ts';
import {
  auditLogUnavailable,
  invalidRequest,
  type Outcome,
  serviceUnavailable,
  successOutcome,
} from '../../../domain/outcome.ts';
import { isSqliteFileBusy, isSqliteFileUnwritable } from '../../../files/shared-database.ts';

/**
 * Calls `access` for the key file. Returns a failure if the key file is busy or unwritable, the audit log cannot be written, or an origin is
 * invalid. Rethrows other errors.
 */
export function tryKeyFile<Value>(access: () => Value): Outcome<Value> {
  try {
    return successOutcome(access());
  } catch (error) {
    if (isSqliteFileBusy(error) || isSqliteFileUnwritable(error)) return serviceUnavailable(bounds.retryAfterSeconds);
    if (error instanceof AuditLogUnavailableError) return auditLogUnavailable(bounds.retryAfterSeconds);
    if (error instanceof EmbedOriginError) return invalidRequest(error.argument);
    throw error;
  }
}
