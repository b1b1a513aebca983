import assert from 'node:assert/strict';
import type { Expectations } from './expectations.ts';
import { createPartner, type Partner } from './partner.ts';
import { SessionRecord } from './session-record.ts';
import type { TagBook } from './tag-book.ts';
import { answered, sessionOf, summaryOf, unexpected, type Wire } from './wire.ts';

const sessionsPerDay = 30;

/** A key that comes to the end of its day after a few restarts, and then makes room for another. All its sessions have one tag. */
export class DayLimit {
  readonly partner: Partner;
  readonly tag: string;

  private constructor(partner: Partner, tag: string) {
    this.partner = partner;
    this.tag = tag;
  }

  static async issue(dataDir: string, number: number): Promise<DayLimit> {
    return new DayLimit(await createPartner(dataDir, 'live', sessionsPerDay), `limited-${number}`);
  }

  /**
   * The day's count survives a restart (docs/contract.md#sessions-per-day): nothing is under way, so the headers of one more must say
   * what the analytics say. False once the key is used up, and a restart has not let it go on.
   */
  async check(wire: Wire, expectations: Expectations): Promise<boolean> {
    const book: TagBook = expectations.book(this.tag, 'live');
    const today = new Date().toISOString().slice(0, 10);
    const before = await this.#createdOn(today, wire);
    assert.ok(before <= sessionsPerDay, `${before} sessions of a key that may create ${sessionsPerDay} a day`);
    const answer = await wire.createSession(this.partner, { referrer_tag: this.tag }, null);
    if (answer === null) throw new Error('the server does not answer');
    const remaining = Number(answer.headers.get('x-ratelimit-remaining'));
    if (answer.status === 429) {
      assert.deepEqual({ before, remaining }, { before: sessionsPerDay, remaining: 0 });
      return false;
    }
    if (answer.status !== 200) throw unexpected(answer);
    const view = sessionOf(answer);
    const session = new SessionRecord(view, this.tag, 'live');
    book.begin();
    book.created(session);
    expectations.touched.add(session);
    // Right at midnight the two questions are about two days.
    if (view.created_at.startsWith(today)) {
      assert.deepEqual({ before, remaining }, { before, remaining: sessionsPerDay - before - 1 });
    }
    return true;
  }

  async #createdOn(day: string, wire: Wire): Promise<number> {
    const query = { referrer_tag: this.tag, date_from: day, date_to: day };
    return summaryOf(await answered(() => wire.queryAnalytics(this.partner, query))).sessions_total;
  }
}
