import { randomBytes } from 'node:crypto';
import {
  createRateLimitPolicies,
  createRateLimitStatus,
  defaultKeyLimits,
  type RateLimitStatus,
} from '../../src/auth/rate-limits.ts';
import { emptyFieldVector, type FieldVector } from '../../src/domain/field-vector.ts';
import { validatePocketFields } from '../../src/domain/pocket-fields.ts';
import type { LedgerRecord } from '../../src/ledger/ledger-record.ts';
import { SecretSet } from '../../src/secrets/secret-set.ts';
import { personalLoans } from '../../src/verticals/personal-loans/personal-loans.ts';
import {
  offerClickedRecord,
  offersViewedRecord,
  sessionCreatedRecord,
  subIdBytes,
} from '../../test/support/ledger-records.ts';
import { createRandomBorrower } from '../population/borrower.ts';
import { type Random, seededRandom } from '../population/random.ts';
import type { VisitorPopulation } from '../population/visitor.ts';

/** Content of a secret file with one secret. */
export function createSecretSet(): SecretSet {
  return new SecretSet([{ number: 1, bytes: randomBytes(32) }]);
}

/** Returns rate limit statuses with decreasing numbers of remaining requests. */
export function createRateLimitStatuses(count: number): RateLimitStatus[] {
  const { requests } = createRateLimitPolicies(defaultKeyLimits);
  const { requestsPerMinute } = defaultKeyLimits;
  return Array.from({ length: count }, (_, i) =>
    createRateLimitStatus(
      requests.perMinute,
      requestsPerMinute - (i % requestsPerMinute),
      60_000 - i,
      1_760_000_000_000 + i,
    ),
  );
}

/** Returns ledger records that repeat a sequence of three: a session, a view of five offers, and a click. */
export function createLedgerRecords(count: number): LedgerRecord[] {
  return Array.from({ length: count }, (_, serial) => {
    const sub = subIdBytes({ createdMs: 1_760_000_000_000 + serial, serial });
    const offers = Array.from({ length: 5 }, (_each, place) => `lender-offer-${(serial + place) % 60}`);
    if (serial % 3 === 0) return sessionCreatedRecord(sub, { tag: 'bench_variant-a', device: 1 });
    return serial % 3 === 1 ? offersViewedRecord(sub, offers) : offerClickedRecord(sub, offers[0]!);
  });
}

const loanPopulation = {
  vertical: personalLoans,
  createVisitor: (random: Random) => ({ ...createRandomBorrower(random) }),
};

/** Fixed current day, from which ages are computed. */
export const fixedCurrentDate = 20260101;

/** Returns random visitors of a vertical as field vectors, the format in which a session stores inputs. */
export function createBorrowers(
  count: number,
  seed: number,
  { vertical, createVisitor }: Pick<VisitorPopulation, 'vertical' | 'createVisitor'> = loanPopulation,
): FieldVector[] {
  const random = seededRandom(seed);
  return Array.from({ length: count }, () => {
    const vector = emptyFieldVector(vertical);
    const { changes } = validatePocketFields(vertical, createVisitor(random), fixedCurrentDate);
    for (let i = 0; i < changes.length; i += 2) vector[changes[i]!] = changes[i + 1]!;
    return vector;
  });
}
