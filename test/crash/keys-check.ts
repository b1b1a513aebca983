import assert from 'node:assert/strict';
import { inParallel } from './in-parallel.ts';
import { sample } from './sample.ts';
import { SessionRecord } from './session-record.ts';
import type { VerificationOptions } from './verification-options.ts';
import { answered, sessionOf } from './wire.ts';

/** Repeated after every restart, of those answered last and of all. */
const repeatedKeys = 25;

export async function settleUnansweredKeys({ wire, expectations, tally }: VerificationOptions): Promise<void> {
  const unanswered = expectations.keyedUnanswered.splice(0);
  await inParallel(unanswered, async (creation) => {
    const { partner, body, idempotencyKey, book, adopt } = creation;
    const answer = await answered(() => wire.createSession(partner, body, idempotencyKey));
    const existed = answer.headers.get('idempotency-replayed') === 'true';
    tally.add(existed ? 'unanswered creations found by their key' : 'unanswered creations made again with their key');
    const view = sessionOf(answer);
    const session = new SessionRecord(view, book.tag, book.mode);
    book.created(session);
    adopt(session);
    expectations.touched.add(session);
    expectations.keyed.push({ ...creation, answer: view });
  });
}

export async function repeatKnownKeys({ wire, expectations, tally, random }: VerificationOptions): Promise<void> {
  const { keyed } = expectations;
  // The latest are those a crash may have cost.
  const repeated = new Set([...keyed.slice(-repeatedKeys), ...sample(random, keyed, repeatedKeys)]);
  await inParallel([...repeated], async ({ partner, body, idempotencyKey, answer }) => {
    const repeat = await answered(() => wire.createSession(partner, body, idempotencyKey));
    assert.deepEqual(sessionOf(repeat), answer, `the key ${idempotencyKey} gets another answer than before`);
    assert.equal(repeat.headers.get('idempotency-replayed'), 'true');
    tally.add('creations repeated with their key');
  });
}
