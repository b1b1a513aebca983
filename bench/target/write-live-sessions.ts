import { join } from 'node:path';
import { bounds } from '../../src/bounds.ts';
import { dayOf, toCompactDate } from '../../src/domain/calendar.ts';
import { systemClock } from '../../src/domain/clock.ts';
import { openEventLog } from '../../src/event-log/file-event-log.ts';
import { dataFiles } from '../../src/files/data-files.ts';
import { SubIds } from '../../src/ids/sub-id.ts';
import { FileJournal } from '../../src/journal/file-journal.ts';
import type { LedgerRecord } from '../../src/ledger/ledger-record.ts';
import { RandomPool } from '../../src/secrets/random-pool.ts';
import { openOrCreateSecretFile } from '../../src/secrets/secret-file.ts';
import { personalLoans } from '../../src/verticals/personal-loans/personal-loans.ts';
import { validateFields } from '../../src/verticals/validate-fields.ts';
import { type Borrower, drawBorrower } from '../population/borrower.ts';
import { seededRandom } from '../population/random.ts';

/** Borrowers who are drawn; beyond them the same people come again, each time with another income. */
const distinctBorrowers = 1_000;
/** Appended before the logs are waited for: far below what they let pend. */
const appendBatchSize = 2_000;
const account = 1;

export interface LiveSessionsOptions {
  readonly count: number;
  /** Keys 1 to this one have created them, by turns, so that none is over its day's limit. */
  readonly keys: number;
  /** The six required fields alone, or whatever the borrower fills in. */
  readonly fields: 'required' | 'all';
  readonly seed: number;
  /** How many are told, spread evenly over all of them. */
  readonly told: number;
}

export interface WrittenSession {
  readonly subId: string;
  readonly borrower: Borrower;
}

/**
 * Writes live sessions with their inputs, all created now, into the data folder of a service that has never started: what
 * its ledger and journal would hold had they come in by the API, which would take a hundred times as long. No two of them
 * have the same inputs, so no ranking of one is another's.
 */
export async function writeLiveSessions(dataDir: string, wanted: LiveSessionsOptions): Promise<WrittenSession[]> {
  const secrets = openOrCreateSecretFile(join(dataDir, 'secrets.json'), false);
  const subIds = new SubIds(secrets, 0, new RandomPool());
  const ledger = await openEventLog<LedgerRecord>({ folder: dataFiles(dataDir).ledgerFolder, durability: 'write' });
  const journal = await FileJournal.open({
    folder: join(dataDir, 'journal'),
    durability: 'write',
    clock: systemClock,
    secrets,
    verticals: [personalLoans],
    sessionTtlMs: bounds.sessionTtlMs,
    onFieldChanges: () => {},
  });
  const random = seededRandom(wanted.seed);
  const borrowers = Array.from({ length: Math.min(distinctBorrowers, wanted.count) }, () => drawBorrower(random));
  const told: WrittenSession[] = [];
  try {
    for (let first = 0; first < wanted.count; first += appendBatchSize) {
      const appended: Promise<void>[] = [];
      for (let number = first; number < Math.min(first + appendBatchSize, wanted.count); number++) {
        const createdMs = Date.now();
        const subId = subIds.issue(createdMs, account, personalLoans.number, 'live');
        const sub = Uint8Array.from(subIds.lastIssuedBytes);
        const borrower = borrowerForSession(borrowers, number, wanted.fields);
        appended.push(
          ledger.append([1, createdMs, sub, 'bench_variant-a', 1 + (number % wanted.keys), 0, null])!.durable,
        );
        appended.push(journal.append(sub, encodeFieldChanges(borrower, createdMs)));
        // Those at which the number told so far falls behind its share.
        if (told.length * wanted.count <= number * wanted.told && told.length < wanted.told) {
          told.push({ subId, borrower });
        }
      }
      await Promise.all(appended);
    }
  } finally {
    await journal.close();
    await ledger.close();
  }
  return told;
}

function borrowerForSession(
  borrowers: readonly Borrower[],
  number: number,
  fields: LiveSessionsOptions['fields'],
): Borrower {
  const drawn = borrowers[number % borrowers.length]!;
  const borrower = { ...drawn, annual_income: drawn.annual_income + Math.floor(number / borrowers.length) };
  if (fields === 'all') return borrower;
  const { loan_amount, loan_purpose, credit_score_range, annual_income, employment_status, state } = borrower;
  return { loan_amount, loan_purpose, credit_score_range, annual_income, employment_status, state };
}

function encodeFieldChanges(borrower: Borrower, nowMs: number): readonly number[] {
  const { changes, invalid } = validateFields(personalLoans, borrower, toCompactDate(dayOf(nowMs)));
  if (invalid.length > 0) throw new Error(`a drawn borrower is not valid: ${invalid[0]!.field}`);
  return changes;
}
