import { randomBytes } from 'node:crypto';
import { bounds } from '../../../src/bounds.ts';
import { systemClock } from '../../../src/domain/clock.ts';
import { MemorySessionStore } from '../../../src/sessions/memory-session-store.ts';
import type { Session } from '../../../src/sessions/session.ts';
import { subIdBytes, subIdText } from '../../../src/sessions/sub-id.ts';
import { personalLoans } from '../../../src/verticals/personal-loans.ts';
import { noPocketFields } from '../../../src/verticals/pocket-vector.ts';
import type { Micro, Prepared } from '../micro.ts';

const calls = 250;
const growths = 3;
/** Larger than any of the sizes' prime factors, so that steps of so many meet every session, and no two near each other. */
const stride = 7_919;

const tenant = { account: 1, vertical: personalLoans, mode: 'live' } as const;

/** The store at work with a number of sessions in it; and how long the longest `add` took while it grew to that number. */
export function sessionStoreMicros(sizes: readonly number[]): Micro[] {
  const repeated = sizes.flatMap((size): Micro[] => {
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
        call: `one session, while ${held} are held`,
        prepare: () => prepareDelete(size),
      },
    ];
  });
  return [
    ...repeated,
    ...sizes.map((size) => growth(size, bounds.sessionStoreParts)),
    // What the parts are for.
    ...sizes.slice(-1).map((size) => growth(size, 1)),
  ];
}

function growth(size: number, parts: number): Micro {
  const named = parts === 1 ? 'in one map instead of many' : 'each add by itself';
  return {
    name: `sessions/memory-session-store: grow to ${size.toLocaleString('en-US')} sessions, ${named}`,
    call: 'one new session, the time of which is taken alone',
    measure: () => {
      const ids = newIds(size);
      // Made before, so that an add is not held up by what makes room for them.
      const sessions = ids.map(newSession);
      const times = new Float64Array(size).fill(Number.POSITIVE_INFINITY);
      for (let round = 0; round < growths; round++) grow(ids, sessions, parts, times);
      times.sort();
      const at = (share: number) => times[Math.min(size - 1, Math.floor(size * share))]!;
      return { medianNs: at(0.5), p99Ns: at(0.99), worstNs: times[size - 1]! };
    },
  };
}

/**
 * Grows a store from nothing and leaves, for each session, the shortest time its `add` has taken in any growth. A table is
 * made anew at the same session every time, while whatever else the machine does holds up another one each time.
 */
function grow(ids: readonly string[], sessions: readonly Session[], parts: number, times: Float64Array): void {
  const store = newStore(parts);
  for (let at = 0; at < ids.length; at++) {
    const startedMs = performance.now();
    store.add(ids[at]!, sessions[at]!);
    times[at] = Math.min(times[at]!, (performance.now() - startedMs) * 1e6);
  }
  const { size } = store;
  store.close();
  if (size !== ids.length) throw new Error('the store does not hold what it was given');
}

function prepareGet(size: number): Prepared {
  const { store, next } = filledStore(size);
  let asked: string[] = [];
  return {
    calls,
    before: () => {
      asked = next();
    },
    run: () => {
      let found = 0;
      for (const id of asked) if (store.get(id) !== undefined) found++;
      if (found !== calls) throw new Error('a session that is held was not found');
      return found;
    },
    close: () => store.close(),
  };
}

/** Sessions leave and come back some batches later, so that about as many are held, and a place is no longer at hand. */
function prepareAdd(size: number): Prepared {
  const { store, next } = filledStore(size);
  const batchesAway = Math.min(20, Math.floor(size / calls / 2));
  const session = newSession();
  const away: string[][] = [];
  return {
    calls,
    before: () => {
      while (away.length < batchesAway) {
        const leaving = next();
        for (const id of leaving) store.delete(id);
        away.push(leaving.map(newText));
      }
    },
    run: () => {
      for (const id of away.shift()!) store.add(id, session);
      if (store.size !== size - away.length * calls) throw new Error('a session was not added');
      return store.size;
    },
    close: () => store.close(),
  };
}

function prepareDelete(size: number): Prepared {
  const { store, next } = filledStore(size);
  const session = newSession();
  let gone: string[] = [];
  return {
    calls,
    before: () => {
      for (const id of gone) store.add(id, session);
      gone = next();
    },
    run: () => {
      for (const id of gone) store.delete(id);
      if (store.size !== size - calls) throw new Error('a session was not deleted');
      return store.size;
    },
    close: () => store.close(),
  };
}

/** A store with so many sessions, and what gives the ids of the next few of them. */
function filledStore(size: number) {
  const ids = newIds(size);
  const store = newStore(bounds.sessionStoreParts);
  for (const id of ids) store.add(id, newSession());
  let at = 0;
  const next = () =>
    Array.from({ length: calls }, () => {
      at = (at + stride) % size;
      return newText(ids[at]!);
    });
  return { store, next };
}

function newStore(parts: number): MemorySessionStore {
  return new MemorySessionStore({
    clock: systemClock,
    sessionsMax: Number.MAX_SAFE_INTEGER,
    sessionTtlMs: bounds.sessionTtlMs,
    parts,
    sweepMs: bounds.sessionSweepMs,
  });
}

/** Spread over the parts as ids of the service are, by random digits, but unsigned: the store looks at no signature. */
function newIds(count: number): string[] {
  const random = randomBytes(count * subIdBytes);
  return Array.from({ length: count }, (_, at) => subIdText(random.subarray(at * subIdBytes, (at + 1) * subIdBytes)));
}

function newSession(): Session {
  return { tenant, createdMs: Date.now(), fields: noPocketFields(personalLoans), ranked: null, widget: null };
}

/** The same text, but new: as one read from a request, whose hash nobody has reckoned and which is no session's own. */
function newText(text: string): string {
  return Buffer.from(text, 'latin1').toString('latin1');
}
