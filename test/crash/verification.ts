import { inParallel, modes, sample, type VerificationOptions } from './expectations.ts';
import {
  checkFigures,
  checkTag,
  compareAllSessions,
  compareRows,
  repeatAllConfirmations,
  retryUncertainConfirmations,
} from './figures-check.ts';
import {
  checkWidgets,
  compareFields,
  repeatAllEvents,
  repeatKnownKeys,
  retryUnansweredKeys,
} from './session-checks.ts';

/** Looked at after every restart though nothing was asked of them lately. */
const sampled = { sessions: 50, tags: 25 };
/** Sessions whose offers are compared after every restart, besides those with an unanswered merge. */
const offersCompared = 25;

/**
 * Judges a restarted server by what the callers know, while nobody else asks it anything, and settles what they did not
 * know. What must hold:
 *
 * - A session, a merge, a click or a confirmation that was answered is there, once. One that was not may be there, once. A
 *   retry with the same Idempotency-Key finds the first if there is one, and so does a confirmation that is sent again.
 * - A view does not wait for the log (docs/contract.md#views), so an answered one may be gone; but then so is everything of its session
 *   that came after it, and nothing in the whole service that came after it had been answered as durable. A click on what
 *   only a lost view showed redirects and counts nothing (docs/contract.md#counting-clicks).
 * - A widget load has one view, before the restart or after it, and an event that a widget told counts once: if it was
 *   answered, and if not, once it is told again.
 * - Every figure of a tag, of its days and of any list of sessions is the sum of its sessions' figures; and the payouts of a
 *   session are with the lenders who owe them.
 */
export async function verify(options: VerificationOptions): Promise<void> {
  const { expectations } = options;
  await retryUnansweredKeys(options);
  await repeatKnownKeys(options);

  const touched = [...expectations.touched];
  await inParallel(touched, async (session) => {
    await checkFigures(options, session);
    await retryUncertainConfirmations(options, session);
  });
  const ofOffers = new Set([
    ...touched.filter(({ pendingMerge }) => pendingMerge !== null),
    ...sample(options.random, touched, offersCompared),
  ]);
  const others = modes.flatMap((mode) => expectations.sessions(mode));
  const looked = new Set([...touched, ...sample(options.random, others, sampled.sessions)]);
  await inParallel([...looked], (session) => compareFields(options, session, ofOffers.has(session)));
  await inParallel([...looked], (session) => checkWidgets(options, session));

  const books = [...expectations.tags];
  const openBooks = books.filter(({ unresolved }) => unresolved > 0);
  const touchedBooks = touched.map(({ tag, mode }) => expectations.tagSessions(tag, mode));
  const lookedBooks = new Set([...openBooks, ...touchedBooks, ...sample(options.random, books, sampled.tags)]);
  await inParallel([...lookedBooks], (book) => checkTag(options, book));
  for (const mode of modes) {
    await compareAllSessions(options, mode);
    const ofMode = [...looked].filter((session) => session.mode === mode);
    await compareRows(options, mode, ofMode);
  }
  // What has been read is durable, the views of this verification included.
  for (const session of looked) session.markDurable();
  expectations.touched.clear();
}

/**
 * As `verify` left it, every session there ever was is live, and its fields are what its merges made of them. Every payout
 * and every event of a widget sent again is a repeat and changes no figure of any session.
 */
export async function verifyAll(options: VerificationOptions): Promise<void> {
  const { expectations } = options;
  const sessions = modes.flatMap((mode) => expectations.sessions(mode));
  await inParallel(sessions, (session) => compareFields(options, session, false));
  await repeatAllConfirmations(options, sessions);
  await inParallel(sessions, (session) => repeatAllEvents(options, session));
  for (const mode of modes) {
    await compareAllSessions(options, mode);
    await compareRows(options, mode, expectations.sessions(mode));
  }
  await inParallel([...expectations.tags], (book) => checkTag(options, book));
}
