import { AuditLogUnavailableError } from '../../../audit/audit-log.ts';
import { EmbedOriginError } from '../../../auth/embed-origin-registry.ts';
import { KeyFileError } from '../../../auth/key-file.ts';
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
 * Calls `access` for the key file. Returns a failure if the key file is busy or unwritable or has no account number left, the audit log
 * cannot be written, or an origin is invalid. Rethrows other errors.
 */
export function tryKeyFile<Value>(access: () => Value): Outcome<Value> {
  try {
    return successOutcome(access());
  } catch (error) {
    if (isSqliteFileBusy(error)) {
      const text = 'key file is locked; check that no command or other program keeps it open for long';
      return serviceUnavailable(bounds.retryAfterSeconds, { text, cause: error });
    }
    if (isSqliteFileUnwritable(error)) {
      const text = 'key file cannot be written; check the space and the permissions of the data folder';
      return serviceUnavailable(bounds.retryAfterSeconds, { text, cause: error });
    }
    if (error instanceof KeyFileError) {
      return serviceUnavailable(bounds.retryAfterSeconds, { text: error.message, cause: error });
    }
    if (error instanceof AuditLogUnavailableError) return auditLogUnavailable(bounds.retryAfterSeconds);
    if (error instanceof EmbedOriginError) return invalidRequest(error.argument);
    throw error;
  }
}
