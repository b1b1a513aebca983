import type { Mode, SessionView } from '../../src/index.ts';
import type { Partner } from './partner.ts';
import type { SessionRecord } from './session-record.ts';
import { TagBook } from './tag-book.ts';

/** A creation that carried an Idempotency-Key. */
export interface KeyedCreation {
  readonly partner: Partner;
  readonly idempotencyKey: string;
  readonly body: { readonly referrer_tag: string };
  readonly book: TagBook;
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
  readonly #books = new Map<string, TagBook>();
  /** Sessions asked about since the last restart was judged. */
  readonly touched = new Set<SessionRecord>();
  /** Keys whose first answer is known. */
  readonly keyed: (KeyedCreation & { readonly answer: SessionView })[] = [];
  /** Keys whose requests have all gone unanswered. */
  readonly keyedUnanswered: KeyedCreation[] = [];
  #moment = 0;
  #barrier = 0;

  now(): number {
    this.#moment++;
    return this.#moment;
  }

  /** Everything answered before this moment was durable. */
  get barrier(): number {
    return this.#barrier;
  }

  /** A request was answered that waits for the log: everything answered before it was sent is durable, too. */
  durableSince(sentAt: number): void {
    this.#barrier = Math.max(this.#barrier, sentAt);
  }

  book(tag: string, mode: Mode): TagBook {
    const name = `${mode} ${tag}`;
    let book = this.#books.get(name);
    if (book === undefined) {
      book = new TagBook(tag, mode);
      this.#books.set(name, book);
    }
    return book;
  }

  get books(): Iterable<TagBook> {
    return this.#books.values();
  }

  sessions(mode: Mode): SessionRecord[] {
    return [...this.books].filter((book) => book.mode === mode).flatMap((book) => book.sessions);
  }
}
