import { bounds } from '../../src/bounds.ts';
import { type Clock, systemClock } from '../../src/domain/clock.ts';
import { parseSubIdWords, subIdWordCount } from '../../src/ids/sub-id.ts';
import { InternTable } from '../../src/sessions/intern-table.ts';
import { MemorySessionStore } from '../../src/sessions/memory-session-store.ts';
import { RankingArena } from '../../src/sessions/ranking-arena.ts';
import { SessionShard } from '../../src/sessions/session-shard.ts';
import type { Session } from '../../src/sessions/session-store.ts';
import { personalLoans } from '../../src/verticals/personal-loans/personal-loans.ts';
import { validatePocketFields } from '../../src/verticals/pocket-fields.ts';
import type { Tenant } from '../../src/verticals/tenant.ts';
import { subIdsAt } from '../../test/support/identities.ts';
import { drawBorrower } from '../population/borrower.ts';
import { seededRandom } from '../population/random.ts';
import { fixedToday } from './fixtures.ts';
import type { MicroBenchmark, PreparedBenchmark } from './micro-benchmark.ts';

const mergeCalls = 1_000;

const mergeTenant: Tenant = { account: 1, vertical: personalLoans, mode: 'live' };

export const mergeFieldsBenchmark: MicroBenchmark = {
  name: 'sessions/session-shard: merge all fields of a borrower',
  call: 'one submission into a session that is held, and the fields as they are then',
  prepare: () => {
    const random = seededRandom(3);
    const submitted = Array.from(
      { length: mergeCalls },
      () => validatePocketFields(personalLoans, drawBorrower(random), fixedToday).changes,
    );
    const sessions = createStoredSessions();
    return {
      calls: mergeCalls,
      run: () => {
        let written = 0;
        for (let at = 0; at < mergeCalls; at++) {
          const changes = submitted[at]!;
          const merged = sessions[at]!.mergeFields(changes)!;
          if (merged[changes[0]!] === changes[1]) written += merged.length;
        }
        return written;
      },
    };
  },
};

function createStoredSessions(): Session[] {
  const part = new SessionShard({
    tenants: new InternTable(),
    rankings: new RankingArena(),
    fieldsMax: personalLoans.fields.length,
  });
  const id = new Int32Array(subIdWordCount);
  return subIdsAt(Date.now(), mergeCalls).map((text) => {
    parseSubIdWords(text, id);
    part.add(id, mergeTenant);
    return part.get(id, text)!;
  });
}

const storeCalls = 250;
const growthRounds = 3;
/**
 * Distance in the list between two sessions that are visited one after the other. The distance is a prime above all
 * store sizes, so that all sessions are visited in scattered order.
 */
const stride = 7_919;

const storeTenant: Tenant = { account: 1, vertical: personalLoans, mode: 'live' };

/** Benchmarks of the session store for several sizes, and of the longest `add` call while the store grows. */
export function sessionStoreBenchmarks(sizes: readonly number[]): MicroBenchmark[] {
  const repeated = sizes.flatMap((size): MicroBenchmark[] => {
    const held = `${size.toLocaleString('en-US')} sessions`;
    return [
      {
        name: `sessions/memory-session-store: get, ${held}`,
        call: `one of ${held} in turn, by an id that has just been read from a request`,
        prepare: () => prepareGet(size),
      },
      {
        name: `sessions/memory-session-store: add, ${held}`,
        call: `one session, while ${held} are held`,
        prepare: () => prepareAdd(size),
      },
      {
        name: `sessions/memory-session-store: delete, ${held}`,
        call: `one session that came last, while ${held} are held`,
        prepare: () => prepareDelete(size),
      },
    ];
  });
  return [
    ...repeated,
    ...sizes.map((size) => growthBenchmark(size, bounds.sessionStoreShards)),
    // The results for one shard show the benefit of several shards.
    ...sizes.slice(-1).map((size) => growthBenchmark(size, 1)),
  ];
}

function growthBenchmark(size: number, parts: number): MicroBenchmark {
  const named = parts === 1 ? 'in one part instead of many' : 'each add by itself';
  return {
    name: `sessions/memory-session-store: grow to ${size.toLocaleString('en-US')} sessions, ${named}`,
    call: 'one new session, the time of which is taken alone',
    measure: () => {
      const ids = subIdsAt(Date.now(), size);
      const times = new Float64Array(size).fill(Number.POSITIVE_INFINITY);
      for (let round = 0; round < growthRounds; round++) growStore(ids, parts, times);
      times.sort();
      const at = (share: number) => times[Math.min(size - 1, Math.floor(size * share))]!;
      return { medianNs: at(0.5), p99Ns: at(0.99), worstNs: times[size - 1]! };
    },
  };
}

/**
 * Adds sessions to several new stores and returns the shortest `add` time of each session. The shortest time excludes
 * random delays, but includes reallocations, which occur at the same session every time.
 */
function growStore(ids: readonly string[], parts: number, times: Float64Array): void {
  const store = createStore(systemClock, parts);
  for (let at = 0; at < ids.length; at++) {
    const startedMs = performance.now();
    store.add(ids[at]!, storeTenant);
    times[at] = Math.min(times[at]!, (performance.now() - startedMs) * 1e6);
  }
  const { size } = store;
  store.close();
  if (size !== ids.length) throw new Error('the store has the wrong size');
}

function prepareGet(size: number): PreparedBenchmark {
  const { store, ids } = new FilledStore(size);
  let asked: string[] = [];
  let at = 0;
  return {
    calls: storeCalls,
    beforeEach: () => {
      asked = Array.from({ length: storeCalls }, () => {
        at = (at + stride) % size;
        return copyText(ids[at]!);
      });
    },
    run: () => {
      let found = 0;
      for (const id of asked) if (store.get(id) !== undefined) found++;
      if (found !== storeCalls) throw new Error('a live session was not found');
      return found;
    },
    close: () => store.close(),
  };
}

/** Creates a benchmark that changes a store without changing the number of its sessions. Before each run, the oldest sessions expire. */
function prepareChange(
  size: number,
  prepare: (filled: FilledStore) => string[],
  run: (store: MemorySessionStore, id: string) => void,
): PreparedBenchmark {
  const filled = new FilledStore(size);
  let ids: string[] = [];
  return {
    calls: storeCalls,
    beforeEach: () => {
      filled.sweepOldestSessions();
      ids = prepare(filled);
    },
    run: () => {
      for (const id of ids) run(filled.store, id);
      if (filled.store.size !== size) throw new Error('the store has the wrong size');
      return filled.store.size;
    },
    close: () => filled.store.close(),
  };
}

/** Adds one session per expired session, so that the store is in the same state as after hours of operation. */
function prepareAdd(size: number): PreparedBenchmark {
  return prepareChange(
    size,
    (filled) => filled.nextBatchIds(storeCalls),
    (store, id) => store.add(id, storeTenant),
  );
}

/** Deletes new sessions, as the service does after a failed ledger append. */
function prepareDelete(size: number): PreparedBenchmark {
  return prepareChange(
    size,
    (filled) => {
      const added = filled.nextBatchIds(2 * storeCalls);
      for (const id of added) filled.store.add(id, storeTenant);
      return added.slice(storeCalls);
    },
    (store, id) => store.delete(id),
  );
}

/** Store of sessions in batches. The batches were created one millisecond apart, so that they expire in order. */
class FilledStore {
  readonly store: MemorySessionStore;
  /** IDs of the sessions that the store contains at the start. */
  readonly ids: string[] = [];
  #wallMs = Date.UTC(2026, 0, 1);
  #createdMs = this.#wallMs;

  constructor(size: number) {
    this.store = createStore(
      { wallMs: () => this.#wallMs, monotonicMs: () => this.#wallMs },
      bounds.sessionStoreShards,
    );
    while (this.ids.length < size) this.ids.push(...this.nextBatchIds(storeCalls));
    for (const id of this.ids) this.store.add(id, storeTenant);
    this.#wallMs += bounds.sessionTtlMs - 1;
  }

  /** Returns the IDs of a new batch of sessions, created one millisecond after the latest batch. */
  nextBatchIds(count: number): string[] {
    return subIdsAt(this.#createdMs++, count);
  }

  /** Advances the clock until `calls` sessions have expired, and sweeps them. */
  sweepOldestSessions(): void {
    const { size } = this.store;
    this.#wallMs++;
    for (let part = 0; part < bounds.sessionStoreShards; part++) this.store.sweepNextShard();
    if (this.store.size !== size - storeCalls) throw new Error('the oldest sessions were not swept');
  }
}

function createStore(clock: Clock, shardCount: number): MemorySessionStore {
  return new MemorySessionStore({
    clock,
    sessionsMax: Number.MAX_SAFE_INTEGER,
    sessionTtlMs: bounds.sessionTtlMs,
    fieldsMax: personalLoans.fields.length,
    shardCount,
    sweepIntervalMs: bounds.sessionSweepIntervalMs,
  });
}

/** Copies a string into a new object, like a string that was read from a request. */
function copyText(text: string): string {
  return Buffer.from(text, 'latin1').toString('latin1');
}
