import { AnalyticsUnavailableError } from '../analytics/analytics.ts';
import { bounds } from '../bounds.ts';
import type { CatalogStore } from '../catalogs/catalog-store.ts';
import type { DailyCaps } from '../clicks/daily-caps.ts';
import type { Confirmation, RejectionReason } from '../confirmations/confirmation.ts';
import { checkConfirmation } from '../confirmations/confirmation-rules.ts';
import { findDuplicateMembers, parseConfirmation } from '../confirmations/parse-confirmation.ts';
import type { PayoutStateReader } from '../confirmations/payout-state.ts';
import { PendingPayoutStates } from '../confirmations/payout-state.ts';
import type { CancelSignal, SerialQueue } from '../domain/async.ts';
import type { Clock } from '../domain/clock.ts';
import { invalidRequest, type Outcome, succeeded, unavailable } from '../domain/outcome.ts';
import { type EventLog, LogUnavailableError } from '../event-log/event-log.ts';
import type { ClickIds } from '../ids/click-id.ts';
import { decodeSubId, type SubIds } from '../ids/sub-id.ts';
import { ledgerRecordKind, type RevenueConfirmed, type RevenueReversed } from '../ledger/ledger-record.ts';

export interface ConfirmRevenueDeps {
  readonly clock: Clock;
  readonly subIds: SubIds;
  readonly clickIds: ClickIds;
  readonly catalogs: Pick<CatalogStore, 'findLenderName'>;
  readonly ledger: EventLog;
  readonly caps: Pick<DailyCaps, 'apply'>;
  readonly history: PayoutStateReader;
  readonly queue: SerialQueue;
}

/** What became of one row, which `index` counts from 0 in the order of sending. */
export interface ConfirmationResult {
  readonly index: number;
  readonly outcome: ConfirmationOutcome;
  /** Of a rejected row. */
  readonly reason?: RejectionReason;
}

/** `unknown`: the ledger may or may not hold it. Send it again: that is harmless, and tells. */
export type ConfirmationOutcome = 'accepted' | 'repeated' | 'rejected' | 'unknown';

/** How many rows came to what, and each of them. */
export type ConfirmationsView = Readonly<Record<ConfirmationOutcome, number>> & {
  readonly results: readonly ConfirmationResult[];
};

/**
 * Takes one confirmation or an array of them (docs/contract.md#confirmations), each judged for itself. Rows that are accepted are
 * durable before the answer, which is the same however often a row is sent.
 *
 * Batches are decided one after the other, on all that the ledger has taken: so what is accepted here, the counters accept
 * too, and no two batches can fund one payout twice. A batch cancelled before its turn changes nothing: its sender was told 503, or
 * nothing, and sends it again.
 *
 * @param text the JSON text that `body` was parsed from, if it was: rows that give a member twice are rejected
 */
export async function confirmRevenue(
  ports: ConfirmRevenueDeps,
  body: unknown,
  text?: string,
  signal: CancelSignal | null = null,
): Promise<Outcome<ConfirmationsView>> {
  const rows: readonly unknown[] = Array.isArray(body) ? body : [body];
  if (body === undefined || rows.length > bounds.confirmationRowsPerRequestMax) {
    return invalidRequest(
      'body',
      `must be one confirmation or an array of at most ${bounds.confirmationRowsPerRequestMax}`,
    );
  }
  const repeated = text === undefined ? null : findDuplicateMembers(text);
  const parsed = rows.map((row, index) => {
    const member = repeated?.get(index);
    return member === undefined ? parseConfirmation(ports, row) : (`${member}_repeated` as const);
  });
  try {
    const results = await ports.queue.run(() => decideBatch(ports, parsed, signal), signal);
    return results === null ? unavailable(bounds.retryAfterSeconds) : succeeded(toConfirmationsView(results));
  } catch (fault) {
    if (fault instanceof AnalyticsUnavailableError || fault instanceof LogUnavailableError) {
      return unavailable(bounds.retryAfterSeconds);
    }
    throw fault;
  }
}

type RowResult = Omit<ConfirmationResult, 'index'>;

async function decideBatch(
  ports: ConfirmRevenueDeps,
  rows: readonly (Confirmation | RejectionReason)[],
  signal: CancelSignal | null,
): Promise<readonly RowResult[]> {
  const { clock, ledger, history } = ports;
  const asked = rows.filter((row) => typeof row !== 'string');
  if (asked.length === 0) return rows.map((row) => rejectedRow(row as RejectionReason));
  // A log in trouble may hold records that nobody can be told of yet; once it is well, the history has them all.
  if (!ledger.healthy) throw new LogUnavailableError('the ledger cannot be written', null);
  const known = new PendingPayoutStates(asked, await history.findPayoutStates(asked, signal));
  const nowMs = clock.wallMs();

  const results: RowResult[] = [];
  const appended: Promise<void>[] = [];
  for (const row of rows) {
    if (typeof row === 'string') {
      results.push(rejectedRow(row));
      continue;
    }
    const past = known.get(row);
    const verdict = checkConfirmation(row, past, nowMs);
    if (verdict !== 'accepted') {
      results.push(verdict === 'repeated' ? { outcome: verdict } : rejectedRow(verdict));
      continue;
    }
    const lenderName = past.lenderName ?? findLenderName(ports.catalogs, row);
    if (lenderName === null) {
      results.push(rejectedRow('lender_unknown'));
      continue;
    }
    known.applyAccepted(row, lenderName);
    const { appendedPosition } = ledger;
    const record = toLedgerRecord(row, lenderName, nowMs);
    appended.push(ledger.append(record));
    results.push({ outcome: 'accepted' });
    // What the log does not take must not be built upon: a reversal is nothing without its funding.
    if (ledger.appendedPosition === appendedPosition) break;
    ports.caps.apply(record);
  }
  const unknown = { outcome: 'unknown' } as const;
  while (results.length < rows.length) results.push(unknown);
  if (await awaitAllDurable(appended)) return results;
  // They travel in one group. A repeat may be one of a row of this very batch.
  return results.map((result) => (result.outcome === 'rejected' ? result : unknown));
}

function rejectedRow(reason: RejectionReason): RowResult {
  return { outcome: 'rejected', reason };
}

async function awaitAllDurable(appended: readonly Promise<void>[]): Promise<boolean> {
  const faults = (await Promise.allSettled(appended)).filter((one) => one.status === 'rejected');
  for (const { reason } of faults) if (!(reason instanceof LogUnavailableError)) throw reason;
  return faults.length === 0;
}

function toLedgerRecord(
  { status, sub, offerId, txid, amountMicros, occurredMs, click }: Confirmation,
  lenderName: string,
  nowMs: number,
): RevenueConfirmed | RevenueReversed {
  const booking = [nowMs, sub, offerId, lenderName, txid, amountMicros, occurredMs] as const;
  if (status === 'reversed') return [ledgerRecordKind.revenueReversed, ...booking];
  return [ledgerRecordKind.revenueConfirmed, ...booking, click?.clickedMs ?? null, click?.valueMicros ?? null];
}

/** Who makes the offer, for a click that nothing but its click_id tells of. */
function findLenderName(catalogs: Pick<CatalogStore, 'findLenderName'>, { sub, offerId }: Confirmation): string | null {
  const { vertical, mode } = decodeSubId(sub);
  return catalogs.findLenderName(vertical, mode, offerId);
}

function toConfirmationsView(results: readonly RowResult[]): ConfirmationsView {
  const counts = { accepted: 0, repeated: 0, rejected: 0, unknown: 0 };
  for (const { outcome } of results) counts[outcome]++;
  return { ...counts, results: results.map((result, index) => ({ index, ...result })) };
}
