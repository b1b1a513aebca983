import { bounds } from '../../src/bounds.ts';
import { systemClock } from '../../src/domain/clock.ts';
import { validatePocketFields } from '../../src/domain/pocket-fields.ts';
import { SubIds } from '../../src/ids/sub-id.ts';
import { UnitHasher } from '../../src/ids/unit-hasher.ts';
import type { Ledger } from '../../src/ledger/ledger.ts';
import { runOperation } from '../../src/operations/api-operation.ts';
import { type CreateSessionDeps, createSession, type SessionResponse } from '../../src/operations/create-session.ts';
import { RandomBytesPool } from '../../src/secrets/random-pool.ts';
import { HashAssignments } from '../../src/sessions/hash-assignments.ts';
import { IdempotencyKeys } from '../../src/sessions/idempotency-keys.ts';
import { ReferrerTags } from '../../src/sessions/referrer-tags.ts';
import { SessionStore } from '../../src/sessions/session-store.ts';
import { DeviceClassifier } from '../../src/user-agents/device-classifier.ts';
import { personalLoans } from '../../src/verticals/personal-loans/personal-loans.ts';
import { createRandomBorrower } from '../population/borrower.ts';
import { seededRandom } from '../population/random.ts';
import { createSecretSet, fixedCurrentDate } from './fixtures.ts';
import { createPerItemBenchmark, type MicroBenchmark } from './micro-benchmark.ts';

const request = {
  caller: { account: 1, vertical: personalLoans, mode: 'live', keyNumber: 1 },
  quotaReservation: { release: () => {} },
  idempotencyKey: null,
  hasResponseBody: true,
  signal: null,
  actorKind: 'partner_key',
} as const;
const sessionBody = { referrer_tag: 'bench_variant-a', user_agent: 'Mozilla/5.0 (X11; Linux x86_64) Firefox/140.0' };

/** Log that stores nothing and reports every record as durable at once, so that the benchmarks do not measure a log. */
const instantLedger: Ledger = {
  append: () => ({ position: 1, durable: Promise.resolve() }),
  appendWithoutWaiting: () => 1,
  lastAppendedPosition: 0,
  durablePosition: 0,
  healthy: true,
  setDurabilityListener: () => {},
  close: () => Promise.resolve(),
};

/** Creates sessions like the service, but without writing a log. */
function createSessionCreator() {
  let aheadMs = 0;
  const clock = { ...systemClock, wallMs: () => systemClock.wallMs() + aheadMs };
  const secrets = createSecretSet();
  const sessionTtlMs = bounds.sessionTtlMs;
  const sessions = new SessionStore({
    clock,
    sessionsMax: 1_000_000,
    sessionTtlMs,
    verticals: [personalLoans],
  });
  const deps: CreateSessionDeps = {
    clock,
    subIds: new SubIds(secrets, new RandomBytesPool()),
    unitHasher: new UnitHasher(Buffer.alloc(32, 7)),
    hashAssignments: new HashAssignments(),
    sessions,
    ledger: instantLedger,
    devices: new DeviceClassifier(bounds.userAgentCacheEntriesMax),
    idempotencyKeys: new IdempotencyKeys({ clock, secrets, retentionMs: sessionTtlMs, keysMax: 1_000 }),
    referrerTags: new ReferrerTags(bounds.referrerTagLimitDefault),
    sessionTtlMs,
  };
  const create = async (): Promise<SessionResponse> => {
    const outcome = await runOperation(createSession, deps, {}, sessionBody, request);
    if (!outcome.ok) throw new Error(`session not created: ${outcome.error.code}`);
    return outcome.value.session;
  };
  const expireSessions = (): void => {
    aheadMs += sessionTtlMs;
    sessions.deleteExpiredSessions();
  };
  return { sessions, create, expireSessions };
}

const createSessionCalls = 200;

export const sessionCreationBenchmark: MicroBenchmark = {
  name: 'operations/create-session: create a session without ledger',
  prepare: () => {
    const { sessions, create, expireSessions } = createSessionCreator();
    return {
      calls: createSessionCalls,
      beforeEach: expireSessions,
      run: async () => {
        const created = await Promise.all(Array.from({ length: createSessionCalls }, create));
        return created.reduce((characters, { sub_id }) => characters + sub_id.length, 0);
      },
      close: () => sessions.close(),
    };
  },
};

const itemCount = 1_000;

export const fieldValidationBenchmark: MicroBenchmark = createPerItemBenchmark(
  'verticals/pocket-fields: validate all fields of a borrower',
  () => {
    const random = seededRandom(3);
    const items = Array.from({ length: itemCount }, () => createRandomBorrower(random));
    return {
      items,
      run: (borrower) => validatePocketFields(personalLoans, borrower, fixedCurrentDate).accepted.length,
    };
  },
);

export const sessionResponseBenchmark: MicroBenchmark = createPerItemBenchmark(
  'http/routes/api-routes: serialize a session',
  async () => {
    const { sessions, create } = createSessionCreator();
    const items = await Promise.all(Array.from({ length: itemCount }, create));
    const wire = Buffer.alloc(4_096);
    return { items, run: (session) => wire.write(JSON.stringify(session)), close: () => sessions.close() };
  },
);
