import type { Mode, SessionView } from '../../src/index.ts';
import type { Partner } from './server-process.ts';
import type { SessionRecord } from './session-record.ts';
import { type Random, wholeNumber } from '../../bench/population/random.ts';
import type { lostClickIds } from '../support/lost-click-ids.ts';
import type { ServerConnections } from './wire.ts';

/** A creation that carried an Idempotency-Key. */
export interface KeyedCreation {
  readonly partner: Partner;
  readonly idempotencyKey: string;
  readonly body: { readonly referrer_tag: string };
  readonly book: TagSessions;
  /** Hands the session, once it is known, to the caller who wanted it. */
  readonly adopt: (session: SessionRecord) => void;
}

/**
 * What the callers know of the service: all they asked, and what was answered. A restarted server must agree with it.
 *
 * Moments are numbers of a counter, one for each request that goes out and each answer that comes in, so that "answered
 * before that one was sent" can be told exactly.
 */
export class Expectations {
  readonly #books = new Map<string, TagSessions>();
  /** Sessions asked about since the last restart was judged. */
  readonly touched = new Set<SessionRecord>();
  /** Keys whose first answer is known. */
  readonly keyed: (KeyedCreation & { readonly answer: SessionView })[] = [];
  /** Keys whose requests have all gone unanswered. */
  readonly keyedUnanswered: KeyedCreation[] = [];
  #moment = 0;
  #barrier = 0;

  nextMoment(): number {
    this.#moment++;
    return this.#moment;
  }

  /** Everything answered before this moment was durable. */
  get durableBefore(): number {
    return this.#barrier;
  }

  /** A request was answered that waits for the log: everything answered before it was sent is durable, too. */
  markDurableBefore(sentAt: number): void {
    this.#barrier = Math.max(this.#barrier, sentAt);
  }

  tagSessions(tag: string, mode: Mode): TagSessions {
    const name = `${mode} ${tag}`;
    let book = this.#books.get(name);
    if (book === undefined) {
      book = new TagSessions(tag, mode);
      this.#books.set(name, book);
    }
    return book;
  }

  get tags(): Iterable<TagSessions> {
    return this.#books.values();
  }

  sessions(mode: Mode): SessionRecord[] {
    return [...this.tags].filter((book) => book.mode === mode).flatMap((book) => book.sessions);
  }
}

/** The sessions of one experiment: those whose creation was answered, and those that may exist without our knowing. */
export class TagSessions {
  readonly tag: string;
  readonly mode: Mode;
  readonly sessions: SessionRecord[] = [];
  /** Sessions that a restart has shown to exist, of creations that went unanswered. */
  orphans = 0;
  /** Creations under way or unanswered: each may have made one session, none may have made two. */
  unresolved = 0;

  constructor(tag: string, mode: Mode) {
    this.tag = tag;
    this.mode = mode;
  }

  /** Sessions that must exist. */
  get certain(): number {
    return this.sessions.length + this.orphans;
  }

  /** Sessions that may exist. */
  get possible(): number {
    return this.certain + this.unresolved;
  }

  begin(): void {
    this.unresolved++;
  }

  created(session: SessionRecord): void {
    this.unresolved--;
    this.sessions.push(session);
  }

  refused(): void {
    this.unresolved--;
  }

  /** Takes what a restarted server says when no creation is under way. */
  settle(sessionsTotal: number): void {
    if (sessionsTotal < this.certain || sessionsTotal > this.possible) {
      throw new Error(
        `the tag ${this.tag} (${this.mode}) has ${sessionsTotal} sessions, where it may have ${this.certain} to ${this.possible}`,
      );
    }
    this.orphans = sessionsTotal - this.sessions.length;
    this.unresolved = 0;
  }
}

/** How often what happened, for the summary of a run. */
export class Tally {
  readonly #counts = new Map<string, number>();

  add(what: string, times = 1): void {
    this.#counts.set(what, this.count(what) + times);
  }

  count(what: string): number {
    return this.#counts.get(what) ?? 0;
  }

  /** One line for each, in the order of their names. */
  toString(): string {
    const lines = [...this.#counts].sort(([a], [b]) => (a < b ? -1 : 1)).map(([what, times]) => `  ${what}: ${times}`);
    return lines.join('\n');
  }
}

/** One of several who use the service at the same time, through all its lives. */
export interface Caller {
  readonly name: string;
  readonly partner: Partner;
  /** Its own: nobody else asks anything of them under load. */
  readonly sessions: SessionRecord[];
}

export interface LoadOptions {
  readonly caller: Caller;
  readonly wire: ServerConnections;
  readonly random: Random;
  readonly expectations: Expectations;
  readonly tally: Tally;
  readonly lostClickId: ReturnType<typeof lostClickIds>;
  /** A live partner near the end of its day's sessions, and the tag of all it creates. */
  readonly limit: { readonly partner: Partner; readonly tag: string };
}

export interface VerificationOptions {
  readonly wire: ServerConnections;
  readonly partners: Readonly<Record<Mode, Partner>>;
  readonly expectations: Expectations;
  readonly tally: Tally;
  readonly random: Random;
}

export const modes = ['live', 'test'] as const;

/** Questions asked at a time. */
const asked = 8;

/** Does this with each item, a few of them at a time. */
export async function inParallel<Item>(items: readonly Item[], act: (item: Item) => Promise<void>): Promise<void> {
  const waiting = items.values();
  const worker = async (): Promise<void> => {
    for (const item of waiting) await act(item);
  };
  await Promise.all(Array.from({ length: asked }, worker));
}

/** So many of these, drawn with repetition, or all where there are no more. */
export function sample<Item>(random: Random, items: readonly Item[], count: number): Item[] {
  if (items.length <= count) return [...items];
  return Array.from({ length: count }, () => items[wholeNumber(random, 0, items.length - 1)]!);
}
