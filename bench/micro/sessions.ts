import { bounds } from '../../src/bounds.ts';
import { validatePocketFields } from '../../src/domain/pocket-fields.ts';
import { SessionStore } from '../../src/sessions/session-store.ts';
import { personalLoans } from '../../src/verticals/personal-loans/personal-loans.ts';
import { subIdsAt } from '../../test/support/identities.ts';
import { createRandomBorrower } from '../population/borrower.ts';
import { seededRandom } from '../population/random.ts';
import { fixedCurrentDate } from './fixtures.ts';
import type { MicroBenchmark, PreparedBenchmark } from './micro-benchmark.ts';

const mergeCalls = 1_000;

export const fieldMergeBenchmark: MicroBenchmark = {
  name: 'sessions/session-store: merge all fields of a borrower',
  prepare: () => {
    const random = seededRandom(3);
    const { store, ids } = new FilledStore(mergeCalls);
    const sessions = ids.map((id) => store.get(id)!);
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
      close: () => store.close(),
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
      name: `sessions/session-store: ${name}, ${size.toLocaleString('en-US')} sessions`,
      prepare: () => prepare(new FilledStore(size)),
    });
    return [benchmark('get', prepareGet), benchmark('add', prepareAdd)];
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

/**
 * Creates a benchmark in which each added session replaces an expired session, as after hours of operation. Old sessions expire before each
 * run, so that the store keeps its size.
 */
function prepareAdd(filled: FilledStore): PreparedBenchmark {
  const { store } = filled;
  const { size } = store;
  let ids: string[] = [];
  return {
    calls: storeCalls,
    beforeEach: () => {
      filled.sweepOldestSessions();
      ids = filled.nextSessionIds(storeCalls);
    },
    run: () => {
      for (const id of ids) store.add(id);
      if (store.size !== size) throw new Error('the store has the wrong size');
      return size;
    },
    close: () => store.close(),
  };
}

/** Session store that contains batches of sessions. Batches of sessions are created one millisecond apart, and expire in the same order. */
class FilledStore {
  readonly store: SessionStore;
  /** IDs of the sessions that the store contains at the start. */
  readonly ids: string[] = [];
  #wallMs = Date.UTC(2026, 0, 1);
  #createdMs = this.#wallMs;

  constructor(size: number) {
    this.store = new SessionStore({
      clock: { wallMs: () => this.#wallMs, monotonicMs: () => this.#wallMs },
      sessionsMax: bounds.sessionLimitMax,
      sessionTtlMs: bounds.sessionTtlMs,
      verticals: [personalLoans],
    });
    while (this.ids.length < size) this.ids.push(...this.nextSessionIds(storeCalls));
    for (const id of this.ids) this.store.add(id);
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
    this.store.deleteExpiredSessions();
    if (this.store.size !== size - storeCalls) throw new Error('the store did not remove the expired sessions');
  }
}

/** Returns a copy of a string, because the session ID in each real request is a new string object. */
function copyText(text: string): string {
  return Buffer.from(text, 'latin1').toString('latin1');
}
