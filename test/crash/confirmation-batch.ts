import type { ConfirmationResult, ConfirmationsView } from '../../src/index.ts';
import { type ConfirmationRow, type RowVerdict, rowBody } from './confirmation-row.ts';
import type { SessionRecord } from './session-record.ts';

/** Rows that travel together, noted in the records of their sessions as they are added, and what must come back for them. */
export class ConfirmationBatch {
  readonly #rows: { readonly session: SessionRecord; readonly row: ConfirmationRow }[] = [];
  readonly verdicts: RowVerdict[] = [];
  /** Rows that bring the click they are for. */
  restored = 0;

  get sessions(): ReadonlySet<SessionRecord> {
    return new Set(this.#rows.map(({ session }) => session));
  }

  get size(): number {
    return this.#rows.length;
  }

  /** False, and nothing is added, where nobody knows what must become of it. */
  add(session: SessionRecord, row: ConfirmationRow): boolean {
    if (session.verdictOn(row) === null) return false;
    const isClickKnown = session.counted.has(row.offerId);
    const verdict = session.confirmed(row);
    if (verdict === 'accepted' && !isClickKnown) this.restored++;
    this.#rows.push({ session, row });
    this.verdicts.push(verdict);
    return true;
  }

  bodies(): object[] {
    return this.#rows.map(({ session, row }) => rowBody(session.subId, row));
  }

  /** What must come back when the same rows are sent once more; null when that would book something new. */
  verdictsAgain(): readonly RowVerdict[] | null {
    const verdicts = this.#rows.map(({ session, row }) => session.verdictOn(row));
    return verdicts.every((verdict) => verdict !== null && verdict !== 'accepted') ? (verdicts as RowVerdict[]) : null;
  }

  /** It was answered: whatever the ledger had taken from these sessions is durable, if it was asked about one of them. */
  settle(): boolean {
    if (this.#rows.every(({ row }) => row.spoilt !== null)) return false;
    for (const session of this.sessions) session.settleAll();
    return true;
  }
}

/** The answer to rows that come to this. */
export function viewOf(verdicts: readonly RowVerdict[]): ConfirmationsView {
  const counts = { accepted: 0, repeated: 0, rejected: 0, unknown: 0 };
  const results = verdicts.map((verdict, index): ConfirmationResult => {
    const isBooked = verdict === 'accepted' || verdict === 'repeated';
    counts[isBooked ? verdict : 'rejected']++;
    return isBooked ? { index, outcome: verdict } : { index, outcome: 'rejected', reason: verdict };
  });
  return { ...counts, results };
}
