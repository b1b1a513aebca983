import { type Random, wholeNumber } from '../../bench/population/random.ts';
import type { ApiKeyMode, SessionResponse } from '../../src/index.ts';
import type { createUnrecordedClickIdIssuer } from '../support/click-ids.ts';
import type { ExpectedExperiments } from './experiments.ts';
import type { Partner } from './server-process.ts';
import type { SessionRecord } from './session-record.ts';
import type { ServerConnections } from './wire.ts';

export const modes = ['live', 'test'] as const;

/** A creation of a session with an Idempotency-Key. */
export interface KeyedCreation {
  readonly partner: Partner;
  readonly idempotencyKey: string;
  readonly body: { readonly referrer_tag: string };
  readonly tag: TagSessions;
  /** Adds the session to the sessions of the caller. */
  readonly adopt: (session: SessionRecord) => void;
}

/**
 * All requests and answers of the callers, with which a restarted server must agree.
 *
 * Moments are counted: one for each request and for each answer. Therefore the order of an answer and a later request is known.
 */
export class Expectations {
  readonly #tags = new Map<string, TagSessions>();
  /** Sessions with requests since the last verification. */
  readonly touched = new Set<SessionRecord>();
  /** Keyed creations with an answer. */
  readonly keyed: (KeyedCreation & { readonly answer: SessionResponse })[] = [];
  readonly keyedUnanswered: KeyedCreation[] = [];
  #moment = 0;
  #durableBefore = 0;

  nextMoment(): number {
    this.#moment++;
    return this.#moment;
  }

  /** Everything that was answered before this moment is durable. */
  get durableBefore(): number {
    return this.#durableBefore;
  }

  /** To be called after an answer that waited for the log. Everything answered before its request was sent is durable. */
  markDurableBefore(sentAt: number): void {
    this.#durableBefore = Math.max(this.#durableBefore, sentAt);
  }

  tagSessions(tag: string, mode: ApiKeyMode): TagSessions {
    const name = `${mode} ${tag}`;
    let sessions = this.#tags.get(name);
    if (sessions === undefined) {
      sessions = new TagSessions(tag, mode);
      this.#tags.set(name, sessions);
    }
    return sessions;
  }

  get tags(): Iterable<TagSessions> {
    return this.#tags.values();
  }

  sessions(mode: ApiKeyMode): SessionRecord[] {
    return [...this.tags].filter((tag) => tag.mode === mode).flatMap(({ sessions }) => sessions);
  }
}

/** The sessions of one referrer tag. */
export class TagSessions {
  readonly tag: string;
  readonly mode: ApiKeyMode;
  /** Sessions whose creation was answered. */
  readonly sessions: SessionRecord[] = [];
  /** Number of sessions that a restarted server has although their creation was not answered. */
  orphans = 0;
  /** Number of creations that are pending or were not answered. Each has created at most one session. */
  unresolved = 0;

  constructor(tag: string, mode: ApiKeyMode) {
    this.tag = tag;
    this.mode = mode;
  }

  /** Number of sessions that must exist. */
  get certain(): number {
    return this.sessions.length + this.orphans;
  }

  /** Number of sessions that may exist. */
  get possible(): number {
    return this.certain + this.unresolved;
  }

  addCreated(session: SessionRecord): void {
    this.unresolved--;
    this.sessions.push(session);
  }

  /** Adopts the number of sessions that a restarted server reports while no creation is pending. */
  reconcile(sessionsTotal: number): void {
    if (sessionsTotal < this.certain || sessionsTotal > this.possible) {
      throw new Error(
        `tag ${this.tag} (${this.mode}) has ${sessionsTotal} sessions instead of ${this.certain} to ${this.possible}`,
      );
    }
    this.orphans = sessionsTotal - this.sessions.length;
    this.unresolved = 0;
  }
}

/** Counts of events, for the summary of a run. */
export class Tally {
  readonly #counts = new Map<string, number>();

  add(event: string, times = 1): void {
    this.#counts.set(event, this.count(event) + times);
  }

  count(event: string): number {
    return this.#counts.get(event) ?? 0;
  }

  toString(): string {
    const sorted = [...this.#counts].sort(([a], [b]) => (a < b ? -1 : 1));
    return sorted.map(([event, times]) => `  ${event}: ${times}`).join('\n');
  }
}

/** One of several clients that use the service at the same time, in all runs of the server. */
export interface Caller {
  readonly name: string;
  readonly partner: Partner;
  /** Sessions that only this caller uses under load. */
  readonly sessions: SessionRecord[];
}

interface SharedOptions {
  readonly wire: ServerConnections;
  readonly random: Random;
  readonly expectations: Expectations;
  readonly tally: Tally;
}

export interface LoadOptions extends SharedOptions {
  readonly caller: Caller;
  readonly lostClickId: ReturnType<typeof createUnrecordedClickIdIssuer>;
  /** A live partner near its daily session limit, and the tag of all its sessions. */
  readonly limit: { readonly partner: Partner; readonly tag: string };
  /** Experiments to whose tags the callers add sessions. */
  readonly experiments: Pick<ExpectedExperiments, 'tags'>;
}

export interface VerificationOptions extends SharedOptions {
  readonly partners: Readonly<Record<ApiKeyMode, Partner>>;
}

/** Applies an asynchronous function to each item, eight items at a time. */
export async function inParallel<Item>(items: readonly Item[], act: (item: Item) => Promise<void>): Promise<void> {
  const waiting = items.values();
  const worker = async (): Promise<void> => {
    for (const item of waiting) await act(item);
  };
  await Promise.all(Array.from({ length: 8 }, worker));
}

/** Returns all items, or `count` items drawn with repetition. */
export function sample<Item>(random: Random, items: readonly Item[], count: number): Item[] {
  return items.length <= count ? [...items] : Array.from({ length: count }, () => drawOne(random, items)!);
}

/** Returns a random item; undefined if there is none. */
export function drawOne<Item>(random: Random, items: readonly Item[]): Item | undefined {
  return items[wholeNumber(random, 0, items.length - 1)];
}
