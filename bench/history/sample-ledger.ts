import { openEventLog } from '../../src/event-log/file-event-log.ts';
import type { LedgerRecord } from '../../src/ledger/ledger-record.ts';
import {
  offerClickedRecord,
  offersViewedRecord,
  revenueConfirmedRecord,
  sessionCreatedRecord,
  subIdBytes,
} from '../../test/support/ledger-records.ts';

const offerCount = 48;
const dayMs = 24 * 60 * 60 * 1_000;

/** Description of a generated ledger of one account. */
export interface SampleLedger {
  readonly sessions: number;
  /** Number of days over which the sessions are evenly distributed. */
  readonly days: number;
  /** Returns the referrer tag of a session. */
  readonly tagOf: (serial: number) => string;
  /** The borrower sees five offers in one of `sessionsPerView` sessions, and clicks an offer in one of `sessionsPerClick` sessions. */
  readonly sessionsPerView: number;
  readonly sessionsPerClick: number;
  /** A lender pays for one of `sessionsPerPayout` sessions, which must be a multiple of `sessionsPerClick`; absent if lenders pay nothing. */
  readonly sessionsPerPayout?: number;
  /** Delay from a session to its view, from the view to the click, and to the payout, as the number of sessions created in between. */
  readonly delaySessions: number;
  readonly metadata: string | null;
  /** Record that precedes all sessions, such as the definition of an experiment. */
  readonly firstRecord?: LedgerRecord;
}

/**
 * Describes a ledger of one month. In each session, the borrower sees five offers. In every second session, the borrower clicks an offer.
 */
export function oneMonthLedger(sessions: number): SampleLedger {
  const tagOf = (serial: number) => `tag-${serial % 40}`;
  return { sessions, days: 30, tagOf, sessionsPerView: 1, sessionsPerClick: 2, delaySessions: 100, metadata: null };
}

export const getLedgerStartTime = Date.UTC(2026, 0, 1);

/** Returns the binary `sub_id` of the session with the number `serial`. */
export function createSampleSubId({ sessions, days }: SampleLedger, serial: number): Buffer {
  const spacingMs = Math.max(1, Math.floor((days * dayMs) / sessions));
  return subIdBytes({ createdMs: getLedgerStartTime + serial * spacingMs, serial });
}

/** Writes the ledger and returns the number of records. */
export async function writeSampleLedger(folder: string, content: SampleLedger): Promise<number> {
  const { sessions, tagOf, sessionsPerView, sessionsPerClick, delaySessions, metadata, firstRecord } = content;
  const { sessionsPerPayout = Number.POSITIVE_INFINITY } = content;
  const log = await openEventLog({ folder, durability: 'write' });
  const write = async (record: LedgerRecord) => {
    // Waits for each 500th record to become durable, so that the number of pending records stays below the limit of the log.
    if (log.lastAppendedPosition % 500 === 0) await log.append(record)!.durable;
    else log.appendWithoutWaiting(record);
  };
  if (firstRecord !== undefined) await write(firstRecord);
  for (let serial = 0; serial < sessions + 3 * delaySessions; serial++) {
    if (serial < sessions)
      await write(sessionCreatedRecord(createSampleSubId(content, serial), { tag: tagOf(serial), metadata }));
    const viewed = serial - delaySessions;
    if (viewed >= 0 && viewed < sessions && viewed % sessionsPerView === 0)
      await write(offersViewedRecord(createSampleSubId(content, viewed), offersShownTo(viewed)));
    const clicked = viewed - delaySessions;
    if (clicked >= 0 && clicked < sessions && clicked % sessionsPerClick === 0)
      await write(offerClickedRecord(createSampleSubId(content, clicked), offersShownTo(clicked)[clicked % 5]!));
    const paid = clicked - delaySessions;
    if (paid >= 0 && paid % sessionsPerPayout === 0) {
      const payout = { txid: `tx-${paid}`, micros: 20_000_000 + (paid % 9_973) * 10_000 };
      await write(revenueConfirmedRecord(createSampleSubId(content, paid), offersShownTo(paid)[paid % 5]!, payout));
    }
  }
  const records = log.lastAppendedPosition;
  await log.close();
  return records;
}

function offersShownTo(serial: number): string[] {
  return Array.from({ length: 5 }, (_, place) => `offer-${(serial * 7 + place) % offerCount}`);
}
