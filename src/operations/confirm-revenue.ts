import { randomBytes } from 'node:crypto';
import { AnalyticsUnavailableError } from '../analytics/analytics.ts';
import { type AuditActor, type AuditDetails, AuditLogUnavailableError } from '../audit/audit-log.ts';
import type { AuditTrail } from '../audit/audit-trail.ts';
import { bounds } from '../bounds.ts';
import type { ClickDecider } from '../budgets/click-decider.ts';
import type { CatalogStore } from '../catalogs/catalog-store.ts';
import type { Confirmation, ConfirmationStatus } from '../confirmations/confirmation.ts';
import { checkConfirmation, confirmationCurrency } from '../confirmations/confirmation.ts';
import { findRowTextProblems, parseConfirmation } from '../confirmations/parse-confirmation.ts';
import type { ConfirmationPayout, PayoutStateReader } from '../confirmations/payout-state.ts';
import { PendingPayoutStates } from '../confirmations/payout-state.ts';
import type { RejectionReason } from '../confirmations/rejection-reasons.ts';
import type { CancelSignal, SerialQueue } from '../domain/async.ts';
import type { Clock } from '../domain/clock.ts';
import {
  auditLogUnavailable,
  type Failure,
  invalidRequest,
  type Outcome,
  serviceUnavailable,
  successOutcome,
} from '../domain/outcome.ts';
import type { AppendedRecord } from '../event-log/event-log.ts';
import type { ClickIds } from '../ids/click-tokens.ts';
import { decodeSubId, type SubIds } from '../ids/sub-id.ts';
import type { Ledger } from '../ledger/ledger.ts';
import {
  ledgerRecordKind,
  type RevenueConfirmedRecord,
  type RevenueReversedRecord,
  type ReversalReason,
  reversalReasons,
} from '../ledger/ledger-record.ts';
import { awaitDurableRecord } from './await-durable.ts';
import { grantAttemptsMax } from './grant-attempts.ts';

export interface ConfirmRevenueDeps {
  readonly clock: Clock;
  readonly subIds: SubIds;
  readonly clickIds: ClickIds;
  readonly catalogs: Pick<CatalogStore, 'findLenderName'>;
  readonly clickDecider: Pick<
    ClickDecider,
    'computeRestoredClickRevenueMicros' | 'needsGrantForRestoredClick' | 'waitForGrant'
  >;
  readonly ledger: Ledger;
  readonly analytics: PayoutStateReader;
  readonly queue: SerialQueue;
  readonly audit: Pick<AuditTrail, 'recorderOf' | 'recordOrWait'>;
  /** Numbers of the verticals in which clicks confirm their own revenue (`Vertical.clicksConfirmRevenue`). */
  readonly verticalsWithConfirmedClicks: ReadonlySet<number>;
  /** Numbers of the verticals with flat payouts (`Vertical.flatPayout`). */
  readonly verticalsWithFlatPayouts: ReadonlySet<number>;
  /**
   * Whether this shard decides the rows of a session, and with `null`, the rows that name no session. The others are `unknown`. Null without
   * other shards.
   */
  readonly isOwnRow: ((sub: Uint8Array | null) => boolean) | null;
  /** Called for each accepted reversal of a click that confirmed its own revenue. */
  readonly onClickReversed: (reason: ReversalReason) => void;
  /** Called for each batch, with the number of rows by outcome. */
  readonly onBatchDone: (counts: Readonly<Record<ConfirmationOutcome, number>>) => void;
}

/** Outcome of one row. `index` is the position of the row in the request, from 0. */
export interface ConfirmationResult {
  readonly index: number;
  readonly outcome: ConfirmationOutcome;
  /** Reason for the rejection; absent for other outcomes. */
  readonly reason?: RejectionReason;
  /** Allowed values of the member, if the reason is `currency_invalid`. */
  readonly allowed?: readonly string[];
  /** The payout that the row names, after all rows of the request. Absent if the ledger has no such payout, or for an `unknown` row. */
  readonly payout?: ConfirmationPayout;
}

/**
 * Outcome of a row. `unknown` means that the row may or may not be recorded. The caller can safely send an `unknown` row again; if the row
 * was recorded, the new outcome is `repeated`.
 */
export type ConfirmationOutcome = 'accepted' | 'repeated' | 'rejected' | 'unknown';

/** Number of rows by outcome, and the result of each row. */
export type ConfirmationsResponse = Readonly<Record<ConfirmationOutcome, number>> & {
  readonly results: readonly ConfirmationResult[];
};

/**
 * Validates and records one confirmation or an array of confirmations (docs/contract.md#confirmations). Each confirmation row has its own
 * outcome. Accepted rows are durable before the response. A repeated row has no effect; its outcome is `repeated`.
 *
 * Two batches cannot confirm the same payout, because batches run one after the other, and each batch sees the rows that earlier batches
 * recorded. A batch that is cancelled before it runs has no effect.
 *
 * @param text JSON text from which `body` was parsed; needed to reject rows with a problem that the parser hides
 */
export async function confirmRevenue(
  deps: ConfirmRevenueDeps,
  actor: AuditActor,
  body: unknown,
  text?: string,
  signal: CancelSignal | null = null,
): Promise<Outcome<ConfirmationsResponse>> {
  const rows: readonly unknown[] = Array.isArray(body) ? body : [body];
  if (body === undefined || rows.length > bounds.confirmationRowsPerRequestMax) {
    return invalidRequest(
      'body',
      `must be one confirmation or an array of at most ${bounds.confirmationRowsPerRequestMax}`,
    );
  }
  const textProblems = text === undefined ? null : findRowTextProblems(text);
  const parsed = rows.map((row, index) => textProblems?.get(index) ?? parseConfirmation(deps, row));
  const { isOwnRow } = deps;
  const isOwn = parsed.map((row) => isOwnRow === null || isOwnRow(typeof row === 'string' ? null : row.sub));
  const ownRows = parsed.filter((_, index) => isOwn[index]);
  if (rows.length > 0 && ownRows.length === 0) return successOutcome(toConfirmationsView(rows.map(() => unknownRow)));
  try {
    const results = await deps.queue.run(() => recordBatch(deps, actor, ownRows, text, signal), signal);
    if (results === null) return refuseBatch(deps.ledger);
    deps.onBatchDone(countOutcomes(results));
    let next = 0;
    return successOutcome(toConfirmationsView(isOwn.map((own) => (own ? results[next++]! : unknownRow))));
  } catch (error) {
    if (error instanceof AnalyticsUnavailableError) {
      const text = 'confirmations cannot be compared with earlier ones; see the log lines of the aggregator';
      return serviceUnavailable(bounds.retryAfterSeconds, { text, cause: error });
    }
    if (error instanceof AuditLogUnavailableError) return auditLogUnavailable(bounds.retryAfterSeconds);
    throw error;
  }
}

function refuseBatch({ healthy }: Ledger): Failure {
  const queueProblem = { text: 'too many uploads of confirmations at once; send them one after the other' };
  const ledgerProblem = { text: 'the ledger cannot be written; see the log lines "ledger incident"' };
  return serviceUnavailable(bounds.retryAfterSeconds, healthy ? queueProblem : ledgerProblem);
}

type RowResult = Omit<ConfirmationResult, 'index'>;
type ParsedRow = Confirmation | RejectionReason;

/**
 * Processes a batch, with an entry in the audit log before the first row is recorded, and one with the result. If the second entry is
 * missing, the process was killed, and rows of the batch may be recorded.
 */
async function recordBatch(
  deps: ConfirmRevenueDeps,
  actor: AuditActor,
  rows: readonly ParsedRow[],
  text: string | undefined,
  signal: CancelSignal | null,
): Promise<readonly RowResult[] | null> {
  const batch = `batch_${randomBytes(6).toString('hex')}`;
  const bytes = text === undefined ? null : Buffer.byteLength(text);
  deps.audit.recorderOf(actor)('confirmations.submit', batch, { rows: rows.length, bytes });
  let details: AuditDetails = { outcome: 'failed' };
  try {
    const results = await processBatch(deps, rows, signal);
    details = results === null ? { outcome: 'refused' } : describeResults(rows, results);
    return results;
  } finally {
    deps.audit.recordOrWait(actor, ['confirmations.result', batch, details]);
  }
}

/** Counts the rows by outcome, the accepted rows by status, and the rejected rows by reason. */
function describeResults(rows: readonly ParsedRow[], results: readonly RowResult[]): AuditDetails {
  const counts = { accepted: 0, repeated: 0, rejected: 0, unknown: 0 };
  const accepted = { funded: 0, reversed: 0 };
  const reasons: Partial<Record<RejectionReason, number>> = {};
  for (const [index, { outcome, reason }] of results.entries()) {
    const row = rows[index]!;
    counts[outcome]++;
    if (outcome === 'accepted' && typeof row !== 'string') accepted[row.status]++;
    if (reason !== undefined) reasons[reason] = (reasons[reason] ?? 0) + 1;
  }
  return { outcome: 'processed', ...counts, accepted_by_status: accepted, rejected_by_reason: reasons };
}

/**
 * Validates and records one batch: first the payouts, then the reversals, so that a reversal can precede its payout in the batch. Returns
 * the results in the order of the rows, or null while the ledger cannot be written.
 */
async function processBatch(
  deps: ConfirmRevenueDeps,
  rows: readonly ParsedRow[],
  signal: CancelSignal | null,
): Promise<readonly RowResult[] | null> {
  const { clock, ledger, analytics } = deps;
  const results = rows.map((row) => (typeof row === 'string' ? rejectedRow(row) : unknownRow));
  const confirmations = rows.filter((row) => typeof row !== 'string');
  if (confirmations.length === 0) return results;
  // While the ledger is unhealthy, a payout that was just recorded may be missing in the analytics, so the payout could be recorded twice.
  if (!ledger.healthy) return null;
  const payoutStates = new PendingPayoutStates(confirmations, await analytics.findPayoutStates(confirmations, signal));
  const nowMs = clock.wallMs();

  let lastRecord: AppendedRecord | null = null;
  for (const index of listPayoutsFirst(rows)) {
    for (let attempt = 0; attempt < grantAttemptsMax; attempt++) {
      if (!needsGrant(deps, rows[index] as Confirmation, payoutStates)) break;
      await deps.clickDecider.waitForGrant();
    }
    const { result, appended } = processRow(deps, rows[index] as Confirmation, payoutStates, nowMs);
    // If the ledger refuses a row, the later rows are skipped, because one of them may reverse the payout of the refused row.
    if (result === null) break;
    results[index] = result;
    lastRecord = appended ?? lastRecord;
  }
  // Records become durable in order, so it is enough to wait for the last record of the batch.
  if (lastRecord !== null && !(await awaitDurableRecord(ledger, lastRecord)).ok) {
    // `accepted` rows become `unknown`. So do `repeated` rows, which may repeat a row of the same batch.
    return results.map((result) => (result.outcome === 'rejected' ? result : unknownRow));
  }
  return results.map((result, index) => {
    const row = rows[index]!;
    const payout = typeof row === 'string' || result === unknownRow ? null : payoutStates.describePayout(row);
    return payout === null ? result : { ...result, payout };
  });
}

/** Returns the indexes of the confirmations: first those of payouts, then those of reversals. */
function listPayoutsFirst(rows: readonly ParsedRow[]): readonly number[] {
  const indexesOf = (status: ConfirmationStatus) =>
    rows.flatMap((row, index) => (typeof row !== 'string' && row.status === status ? [index] : []));
  return [...indexesOf('funded'), ...indexesOf('reversed')];
}

/** Whether the row restores a click whose revenue the shard can book only after it gets a part of the budget. */
function needsGrant(
  { clickDecider }: ConfirmRevenueDeps,
  row: Confirmation,
  payoutStates: PendingPayoutStates,
): boolean {
  const { sub, offerId, click } = row;
  if (click === null || payoutStates.get(row).clickedMs !== null) return false;
  return clickDecider.needsGrantForRestoredClick(sub, offerId, click.clickedMs, click.valueMicros);
}

/** Validates one row, and appends an accepted row to the ledger. `result` is null if the ledger refuses the row. */
function processRow(
  { ledger, catalogs, clickDecider, onClickReversed }: ConfirmRevenueDeps,
  row: Confirmation,
  payoutStates: PendingPayoutStates,
  nowMs: number,
): { readonly result: RowResult | null; readonly appended: AppendedRecord | null } {
  const state = payoutStates.get(row);
  const decision = checkConfirmation(row, state, nowMs);
  if (decision !== 'accepted') {
    return { result: decision === 'repeated' ? { outcome: decision } : rejectedRow(decision), appended: null };
  }
  const { sub, offerId, click } = row;
  const { vertical, mode } = decodeSubId(sub);
  // If the ledger has no record of the click, the lender name comes from the catalog.
  const lenderName = state.lenderName ?? catalogs.findLenderName(vertical, mode, offerId);
  if (lenderName === null) return { result: rejectedRow('lender_unknown'), appended: null };
  // The click is restored if the ledger has no record of it.
  const restoredMicros =
    click === null || state.clickedMs !== null
      ? null
      : clickDecider.computeRestoredClickRevenueMicros(sub, offerId, click.clickedMs, nowMs, click.valueMicros);
  const appended = ledger.append(toLedgerRecord(row, lenderName, nowMs, restoredMicros));
  if (appended === null) return { result: null, appended };
  if (row.reason !== null) onClickReversed(row.reason);
  payoutStates.applyAcceptedConfirmation(row, lenderName);
  return { result: { outcome: 'accepted' }, appended };
}

const unknownRow: RowResult = { outcome: 'unknown' };

function rejectedRow(reason: RejectionReason): RowResult {
  const rejected = { outcome: 'rejected', reason } as const;
  return reason === 'currency_invalid' ? { ...rejected, allowed: [confirmationCurrency] } : rejected;
}

function toLedgerRecord(
  { status, sub, offerId, txid, amountMicros, occurredMs, click, reason, isPayoutFlat }: Confirmation,
  lenderName: string,
  nowMs: number,
  restoredMicros: number | null,
): RevenueConfirmedRecord | RevenueReversedRecord {
  const booking = [nowMs, sub, offerId, lenderName, txid, amountMicros, occurredMs] as const;
  if (reason !== null) return [ledgerRecordKind.revenueReversed, ...booking, reversalReasons.indexOf(reason)];
  if (status === 'reversed') return [ledgerRecordKind.revenueReversed, ...booking];
  const clickedMs = click?.clickedMs ?? null;
  const valueMicros = restoredMicros ?? click?.valueMicros ?? null;
  const confirmed = [ledgerRecordKind.revenueConfirmed, ...booking, clickedMs, valueMicros] as const;
  return isPayoutFlat ? [...confirmed, click?.payoutMicros ?? null] : confirmed;
}

function toConfirmationsView(results: readonly RowResult[]): ConfirmationsResponse {
  return { ...countOutcomes(results), results: results.map((result, index) => ({ index, ...result })) };
}

function countOutcomes(results: readonly RowResult[]): Readonly<Record<ConfirmationOutcome, number>> {
  const counts = { accepted: 0, repeated: 0, rejected: 0, unknown: 0 };
  for (const { outcome } of results) counts[outcome]++;
  return counts;
}
