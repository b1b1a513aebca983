import assert from 'node:assert/strict';
import { chance, wholeNumber } from '../../bench/population/random.ts';
import type { Answer } from '../support/http-client.ts';
import { expectUnavailable } from './expect-unavailable.ts';
import type { KeyedCreation } from './expectations.ts';
import type { LoadOptions } from './load-options.ts';
import type { Partner } from './partner.ts';
import { SessionRecord } from './session-record.ts';
import { sharedTag } from './shared-tag.ts';
import { sessionOf } from './wire.ts';

/** The sessions one caller creates, with and without an Idempotency-Key, and its retries with one. */
export class CreationLoad {
  readonly #options: LoadOptions;

  constructor(options: LoadOptions) {
    this.#options = options;
  }

  async createSession(): Promise<void> {
    const { caller, random, expectations } = this.#options;
    const name = `${caller.name}-${expectations.now()}`;
    // A tag of its own lets one session be asked for without its id.
    const tag = chance(random, 0.15) ? `own-${name}` : sharedTag(random);
    await this.#create(caller.partner, tag, chance(random, 0.5) ? name : null);
  }

  /** Without keys: a retry that meets the day's limit would leave open what became of the first. */
  async createLimitedSession(): Promise<void> {
    const { caller, limit } = this.#options;
    if (caller.partner.mode === limit.partner.mode) await this.#create(limit.partner, limit.tag, null);
  }

  async #create(partner: Partner, tag: string, idempotencyKey: string | null): Promise<void> {
    const { caller, wire, random, expectations, tally } = this.#options;
    const book = expectations.book(tag, partner.mode);
    const body = {
      referrer_tag: tag,
      ...(chance(random, 0.3) ? { user_agent: 'Mozilla/5.0 (iPhone; CPU iPhone OS 18_0 like Mac OS X)' } : {}),
      ...(chance(random, 0.3) ? { metadata: { caller: caller.name, moment: expectations.now() } } : {}),
    };
    const copies = idempotencyKey !== null && chance(random, 0.2) ? 2 : 1;
    book.begin();
    const sentAt = expectations.now();
    const answers = await Promise.all(
      Array.from({ length: copies }, () => wire.createSession(partner, body, idempotencyKey)),
    );

    const good = answers.filter((answer) => answer?.status === 200) as Answer[];
    for (const answer of answers) {
      if (answer?.status === 429 && partner.sessionsPerDay !== null) {
        book.refused();
        assert.ok(book.possible >= partner.sessionsPerDay, 'a session was refused before the day was used up');
        tally.add('sessions refused by the limit of the day');
        return;
      }
      if (answer !== null && answer.status !== 200) expectUnavailable(answer, tally);
    }
    const adopt = (session: SessionRecord): void => void caller.sessions.push(session);
    const creation: KeyedCreation | null =
      idempotencyKey === null ? null : { partner, idempotencyKey, body, book, adopt };
    const [first, second] = good;
    if (first === undefined) {
      tally.add('sessions unanswered');
      if (creation !== null) expectations.keyedUnanswered.push(creation);
      return;
    }
    if (second !== undefined) {
      assert.deepEqual(sessionOf(second), sessionOf(first));
      const replays = good.filter(({ headers }) => headers.get('idempotency-replayed') === 'true');
      assert.equal(replays.length, 1, 'of two requests with one key, one is the first and the other a repeat');
    }
    const view = sessionOf(first);
    expectations.durableSince(sentAt);
    const session = new SessionRecord(view, tag, partner.mode);
    book.created(session);
    adopt(session);
    expectations.touched.add(session);
    if (creation !== null) expectations.keyed.push({ ...creation, answer: view });
    tally.add('sessions answered');
  }

  async repeatCreation(): Promise<void> {
    const { wire, random, expectations, tally } = this.#options;
    const { keyed } = expectations;
    const creation = keyed[wholeNumber(random, 0, keyed.length - 1)];
    if (creation === undefined) return;
    const answer = await wire.createSession(creation.partner, creation.body, creation.idempotencyKey);
    if (answer === null) return;
    if (answer.status !== 200) return expectUnavailable(answer, tally);
    assert.deepEqual(sessionOf(answer), creation.answer, 'a repeat gets the first answer');
    assert.equal(answer.headers.get('idempotency-replayed'), 'true');
    tally.add('creations repeated with their key');
  }
}
