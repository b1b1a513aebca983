import { join } from 'node:path';
import { bounds } from '../../src/bounds.ts';
import { daysSinceEpoch, toCompactDate } from '../../src/domain/calendar.ts';
import { systemClock } from '../../src/domain/clock.ts';
import { validatePocketFields } from '../../src/domain/pocket-fields.ts';
import { openEventLog } from '../../src/event-log/file-event-log.ts';
import { dataPaths } from '../../src/files/data-paths.ts';
import { SubIds } from '../../src/ids/sub-id.ts';
import { FileJournal } from '../../src/journal/file-journal.ts';
import type { LedgerRecord } from '../../src/ledger/ledger-record.ts';
import { RandomBytesPool } from '../../src/secrets/random-pool.ts';
import { openOrCreateSecretFile } from '../../src/secrets/secret-file.ts';
import { personalLoans } from '../../src/verticals/personal-loans/personal-loans.ts';
import { type Borrower, createRandomBorrower } from '../population/borrower.ts';
import { seededRandom } from '../population/random.ts';

/** Number of different borrowers. If there are more sessions than borrowers, borrowers are repeated with different incomes. */
const distinctBorrowers = 1_000;
/** Number of sessions that are written before each wait for their records to become durable. */
const appendBatchSize = 2_000;
const borrowersSeed = 23;
const account = 1;

export interface LiveSessionsOptions {
  readonly count: number;
  /**
   * Number of API keys among which the sessions are distributed. The number of keys must be large enough that no key
   * exceeds its daily session limit.
   */
  readonly keys: number;
  /** Fields that each session submits: only the required fields, or all fields of its borrower. */
  readonly fields: 'required' | 'all';
  /** Number of sessions to return. The returned sessions are spread evenly over all written sessions. */
  readonly sampleSize: number;
}

export interface WrittenSession {
  readonly subId: string;
  readonly borrower: Borrower;
}

/**
 * Writes live sessions with inputs into the data folder of a service that has not started yet. Creating the sessions with API requests
 * would take a hundred times longer. All sessions have different inputs, so each session needs a separate ranking.
 */
export async function writeLiveSessions(dataDir: string, wanted: LiveSessionsOptions): Promise<WrittenSession[]> {
  const secrets = openOrCreateSecretFile(join(dataDir, 'secrets.json'), false);
  const subIds = new SubIds(secrets, new RandomBytesPool());
  const ledger = await openEventLog<LedgerRecord>({ folder: dataPaths(dataDir).ledgerFolder, durability: 'write' });
  const journal = await FileJournal.open({
    folder: join(dataDir, 'journal'),
    durability: 'write',
    clock: systemClock,
    secrets,
    verticals: [personalLoans],
    sessionTtlMs: bounds.sessionTtlMs,
    onFieldChanges: () => {},
  });
  const random = seededRandom(borrowersSeed);
  const borrowers = Array.from({ length: Math.min(distinctBorrowers, wanted.count) }, () =>
    createRandomBorrower(random),
  );
  const sample: WrittenSession[] = [];
  try {
    for (let first = 0; first < wanted.count; first += appendBatchSize) {
      const appended: Promise<void>[] = [];
      for (let number = first; number < Math.min(first + appendBatchSize, wanted.count); number++) {
        const createdMs = Date.now();
        const subId = subIds.createSubId(createdMs, account, personalLoans.number, 'live');
        const sub = Uint8Array.from(subIds.toBytes(subId));
        const borrower = borrowerForSession(borrowers, number, wanted.fields);
        appended.push(
          ledger.append([1, createdMs, sub, 'bench_variant-a', 1 + (number % wanted.keys), 0, null])!.durable,
        );
        appended.push(journal.append(sub, encodeFieldChanges(borrower, createdMs)));
        // Selects sessions at equal intervals, so that the sample is spread evenly over all sessions.
        if (sample.length * wanted.count <= number * wanted.sampleSize && sample.length < wanted.sampleSize) {
          sample.push({ subId, borrower });
        }
      }
      await Promise.all(appended);
    }
  } finally {
    await journal.close();
    await ledger.close();
  }
  return sample;
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
  const { changes, invalid } = validatePocketFields(personalLoans, borrower, toCompactDate(daysSinceEpoch(nowMs)));
  if (invalid.length > 0) throw new Error(`a generated borrower is not valid: ${invalid[0]!.field}`);
  return changes;
}
