import { auditActions } from '../../../audit/audit-actions.ts';
import { type AuditEntry, type AuditLog, AuditLogUnavailableError } from '../../../audit/audit-log.ts';
import { bounds } from '../../../bounds.ts';
import { dayStartMs, parseIsoDate, parseIsoTimestamp } from '../../../domain/calendar.ts';
import { invalidRequest, type Outcome, serviceUnavailable, successOutcome } from '../../../domain/outcome.ts';
import { toAuditEntryView, toConfirmationUploadView } from '../../../operations/audit-views.ts';
import type { OperatorRequest, OperatorRoute } from './operator-route.ts';
import { cursorRule, parsePageQuery, toPageJson } from './page-query.ts';

export interface AuditRoutesDeps {
  readonly auditLog: Pick<AuditLog, 'findLastEntry' | 'listEntries'>;
  /** Records revenue confirmations (docs/contract.md#confirmations). `text` is the JSON text of `body`. */
  readonly confirmRevenue: NonNullable<OperatorRoute['POST']>;
}

/**
 * Returns the routes with pages of the audit log, newest entries first: `GET /audit?limit=&cursor=&action=&since=` lists all entries, and
 * `GET /confirmations?limit=&cursor=` the uploads of confirmations. `POST /confirmations` uploads confirmations.
 */
export function auditRoutes({ auditLog, confirmRevenue }: AuditRoutesDeps): readonly OperatorRoute[] {
  return [
    {
      path: '/audit',
      name: 'audit',
      GET: (request) => listPage(auditLog, request, ['action', 'since'], toAuditEntryView),
    },
    {
      path: '/confirmations',
      name: 'confirmations',
      GET: (request) =>
        listPage(auditLog, request, [], (entry) => toConfirmationUploadView(entry, auditLog), 'confirmations.submit'),
      POST: confirmRevenue,
    },
  ];
}

/** @param onlyAction action of the entries; null if the query chooses the action */
function listPage(
  auditLog: AuditRoutesDeps['auditLog'],
  request: OperatorRequest,
  names: readonly ('action' | 'since')[],
  toView: (entry: AuditEntry) => object,
  onlyAction: string | null = null,
): Outcome<object> {
  const query = parsePageQuery(request.query, names);
  if (!query.ok) return query;
  const { limit = bounds.operatorPageItemsMax, values } = query;
  const { cursor, action, since } = values;
  if (cursor !== undefined && !/^[1-9]\d{0,14}$/.test(cursor)) return invalidRequest('cursor', cursorRule);
  if (action !== undefined && !(auditActions as readonly string[]).includes(action)) return invalidRequest('action');
  const sinceMs = since === undefined ? null : parseSince(since);
  if (sinceMs === undefined) return invalidRequest('since');
  try {
    const entries = auditLog.listEntries({
      limit: limit + 1,
      beforeNumber: cursor === undefined ? null : Number(cursor),
      action: onlyAction ?? action ?? null,
      sinceMs,
    });
    return successOutcome(toPageJson(entries, limit, ({ number }) => String(number), toView));
  } catch (error) {
    if (!(error instanceof AuditLogUnavailableError)) throw error;
    const text = 'audit log cannot be read; check that no other program locks it, and run marketplace audit verify';
    return serviceUnavailable(bounds.retryAfterSeconds, { text, cause: error });
  }
}

/** Parses a UTC day or a timestamp. Returns Unix milliseconds, or undefined for an invalid text. */
function parseSince(text: string): number | undefined {
  const day = parseIsoDate(text);
  return (day === null ? parseIsoTimestamp(text) : dayStartMs(day)) ?? undefined;
}
