import { bounds } from '../../../src/bounds.ts';
import { systemClock } from '../../../src/domain/clock.ts';
import type { EventLog } from '../../../src/events/event-log.ts';
import { type CreateSessionDeps, createSession, type SessionView } from '../../../src/operations/create-session.ts';
import { RandomPool } from '../../../src/secrets/random-pool.ts';
import { IdempotencyKeys } from '../../../src/sessions/idempotency-keys.ts';
import { MemorySessionStore } from '../../../src/sessions/memory-session-store.ts';
import { ReferrerTags } from '../../../src/sessions/referrer-tags.ts';
import { SubIds } from '../../../src/sessions/sub-id.ts';
import { DeviceClassifier } from '../../../src/user-agents/device-class.ts';
import { personalLoans } from '../../../src/verticals/personal-loans.ts';
import type { Tenant } from '../../../src/verticals/tenant.ts';
import { createSecretRing } from '../secrets.ts';

const creatorTenant: Tenant = { account: 1, vertical: personalLoans, mode: 'live' };
const sessionBody = { referrer_tag: 'bench_variant-a', user_agent: 'Mozilla/5.0 (X11; Linux x86_64) Firefox/140.0' };

/** A log that takes everything and is durable at once, so that what is timed is everything but the log. */
const instantLog: EventLog = {
  append: () => Promise.resolve(),
  appendWithoutWaiting: () => true,
  appendedPosition: 0,
  durablePosition: 0,
  healthy: true,
  onDurable: () => {},
  close: () => Promise.resolve(),
};

/** Creates sessions as the service does, but for the log. */
export class SessionCreator {
  readonly #deps: CreateSessionDeps;
  readonly #sessions: MemorySessionStore;

  constructor() {
    const clock = systemClock;
    const secrets = createSecretRing();
    const sessionTtlMs = bounds.sessionTtlMs;
    this.#sessions = new MemorySessionStore({
      clock,
      sessionsMax: 1_000_000,
      sessionTtlMs,
      fieldsMax: personalLoans.fields.length,
      shardCount: bounds.sessionStoreShards,
      sweepIntervalMs: bounds.sessionSweepIntervalMs,
    });
    this.#deps = {
      clock,
      subIds: new SubIds(secrets, 0, new RandomPool()),
      sessions: this.#sessions,
      ledger: instantLog,
      devices: new DeviceClassifier(bounds.userAgentCacheEntriesMax),
      idempotencyKeys: new IdempotencyKeys({ clock, secrets, retentionMs: sessionTtlMs, keysMax: 1_000 }),
      referrerTags: new ReferrerTags(bounds.referrerTagLimitDefault),
      sessionTtlMs,
    };
  }

  async create(): Promise<SessionView> {
    const outcome = await createSession(this.#deps, creatorTenant, 1, sessionBody, null, { release: () => {} });
    if (!outcome.ok) throw new Error(`no session: ${outcome.refusal.code}`);
    return outcome.value.session;
  }

  deleteAll(sessions: readonly SessionView[]): void {
    for (const { sub_id } of sessions) this.#sessions.delete(sub_id);
    // What is deleted keeps its place until the sweep.
    for (let part = 0; part < bounds.sessionStoreShards; part++) this.#sessions.sweepNextShard();
  }

  close(): void {
    this.#sessions.close();
  }
}
