import { bounds } from '../../src/bounds.ts';
import { int32sPerSubId, parseSubIdHex } from '../../src/ids/sub-id.ts';
import { InternTable } from '../../src/sessions/intern-table.ts';
import { MemorySessionStore } from '../../src/sessions/memory-session-store.ts';
import { RankingArena } from '../../src/sessions/ranking-arena.ts';
import { SessionShard } from '../../src/sessions/session-shard.ts';
import { personalLoans } from '../../src/verticals/personal-loans/personal-loans.ts';
import { validatePocketFields } from '../../src/verticals/pocket-fields.ts';
import type { Tenant } from '../../src/verticals/tenant.ts';
import { subIdsAt } from '../../test/support/identities.ts';
import { createRandomBorrower } from '../population/borrower.ts';
import { seededRandom } from '../population/random.ts';
import { fixedCurrentDate } from './fixtures.ts';
import type { MicroBenchmark, PreparedBenchmark } from './micro-benchmark.ts';

const tenant: Tenant = { account: 1, vertical: personalLoans, mode: 'live' };
const fieldsMax = personalLoans.fields.length;
const mergeCalls = 1_000;

export const fieldMergeBenchmark: MicroBenchmark = {
  name: 'sessions/session-shard: merge all fields of a borrower',
  prepare: () => {
    const random = seededRandom(3);
    const shard = new SessionShard({ tenants: new InternTable(), rankings: new RankingArena(), fieldsMax });
    const id = new Int32Array(int32sPerSubId);
    const sessions = subIdsAt(Date.now(), mergeCalls).map((text) => {
      parseSubIdHex(text, id);
      shard.add(id, tenant);
      return shard.get(id, text)!;
    });
    const submitted = sessions.map(
      () => validatePocketFields(personalLoans, createRandomBorrower(random), fixedCurrentDate).changes,
    );
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

const storeCalls = 250;
/** The benchmark requests every 7,919th session, so that successive requests read distant memory. */
const stride = 7_919;

/** Benchmarks of the session store for several numbers of live sessions. */
export function sessionStoreBenchmarks(sizes: readonly number[]): MicroBenchmark[] {
  return sizes.flatMap((size) => {
    const benchmark = (name: string, prepare: (filled: FilledStore) => PreparedBenchmark): MicroBenchmark => ({
      name: `sessions/memory-session-store: ${name}, ${size.toLocaleString('en-US')} sessions`,
      prepare: () => prepare(new FilledStore(size)),
    });
    return [benchmark('get', prepareGet), benchmark('add', prepareAdd), benchmark('delete', prepareDelete)];
  });
}

function prepareGet({ store, ids }: FilledStore): PreparedBenchmark {
  let requested: string[] = [];
  let at = 0;
  return {
    calls: storeCalls,
    beforeEach: () => {
      requested = Array.from({ length: storeCalls }, () => {
        at = (at + stride) % ids.length;
        return copyText(ids[at]!);
      });
    },
    run: () => {
      let found = 0;
      for (const id of requested) if (store.get(id) !== undefined) found++;
      if (found !== storeCalls) throw new Error('a live session was not found');
      return found;
    },
    close: () => store.close(),
  };
}

/** Creates a benchmark that adds or deletes sessions. Old sessions expire before each run, so that the store keeps its size. */
function prepareChange(
  filled: FilledStore,
  prepare: () => string[],
  run: (store: MemorySessionStore, id: string) => void,
): PreparedBenchmark {
  const { store } = filled;
  const { size } = store;
  let ids: string[] = [];
  return {
    calls: storeCalls,
    beforeEach: () => {
      filled.sweepOldestSessions();
      ids = prepare();
    },
    run: () => {
      for (const id of ids) run(store, id);
      if (store.size !== size) throw new Error('the store has the wrong size');
      return size;
    },
    close: () => store.close(),
  };
}

/** Creates a benchmark in which each added session replaces an expired session, as after hours of operation. */
function prepareAdd(filled: FilledStore): PreparedBenchmark {
  return prepareChange(
    filled,
    () => filled.nextSessionIds(storeCalls),
    (store, id) => store.add(id, tenant),
  );
}

/** Deletes new sessions, as the service does after a failed ledger append. */
function prepareDelete(filled: FilledStore): PreparedBenchmark {
  return prepareChange(
    filled,
    () => {
      const added = filled.nextSessionIds(2 * storeCalls);
      for (const id of added) filled.store.add(id, tenant);
      return added.slice(storeCalls);
    },
    (store, id) => store.delete(id),
  );
}

/** Session store that contains batches of sessions. Batches of sessions are created one millisecond apart, and expire in the same order. */
class FilledStore {
  readonly store: MemorySessionStore;
  /** IDs of the sessions that the store contains at the start. */
  readonly ids: string[] = [];
  #wallMs = Date.UTC(2026, 0, 1);
  #createdMs = this.#wallMs;

  constructor(size: number) {
    this.store = new MemorySessionStore({
      clock: { wallMs: () => this.#wallMs, monotonicMs: () => this.#wallMs },
      sessionsMax: Number.MAX_SAFE_INTEGER,
      sessionTtlMs: bounds.sessionTtlMs,
      fieldsMax,
      shardCount: bounds.sessionStoreShards,
      sweepIntervalMs: bounds.sessionSweepIntervalMs,
    });
    while (this.ids.length < size) this.ids.push(...this.nextSessionIds(storeCalls));
    for (const id of this.ids) this.store.add(id, tenant);
    this.#wallMs += bounds.sessionTtlMs - 1;
  }

  /** Returns the IDs of a new batch of sessions, created one millisecond after the latest batch. */
  nextSessionIds(count: number): string[] {
    return subIdsAt(this.#createdMs++, count);
  }

  /** Advances the clock until the oldest batch of sessions has expired, and removes the batch from the store. */
  sweepOldestSessions(): void {
    const { size } = this.store;
    this.#wallMs++;
    for (let part = 0; part < bounds.sessionStoreShards; part++) this.store.sweepNextShard();
    if (this.store.size !== size - storeCalls) throw new Error('the store did not remove the expired sessions');
  }
}

/** Returns a copy of a string, because the session ID in each real request is a new string object. */
function copyText(text: string): string {
  return Buffer.from(text, 'latin1').toString('latin1');
}
