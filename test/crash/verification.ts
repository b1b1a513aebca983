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

/** Numbers of sessions and tags without recent requests that are checked after each restart. */
const sampled = { sessions: 50, tags: 25 };
/** Number of sessions whose offers are compared after each restart, in addition to those with an unanswered merge. */
const offersCompared = 25;

/**
 * Checks a restarted server without other requests, and determines the outcome of the unanswered requests:
 *
 * - An answered session, merge, click or confirmation exists once. An unanswered one exists at most once. A retry with the same
 *   Idempotency-Key, or a repeated confirmation, finds the first one.
 * - An answered view may be lost, because it does not wait for the log (docs/contract.md#views). Then all later requests of its session are
 *   lost, and no later request of the service was answered as durable. A click on an offer of a lost view redirects and counts nothing
 *   (docs/contract.md#counting-clicks).
 * - A widget load has one view, before or after the restart. An answered widget event counts once, an unanswered one after its repetition.
 * - The figures of a tag, of a day and of a list of sessions are the sums of the sessions' figures. Payouts belong to the right lenders.
 */
export async function verify(options: VerificationOptions): Promise<void> {
  const { expectations, random } = options;
  await retryUnansweredKeys(options);
  await repeatKnownKeys(options);

  const touched = [...expectations.touched];
  await inParallel(touched, async (session) => {
    await checkFigures(options, session);
    await retryUncertainConfirmations(options, session);
  });
  const withOffers = new Set([
    ...touched.filter(({ pendingMerge }) => pendingMerge !== null),
    ...sample(random, touched, offersCompared),
  ]);
  const others = modes.flatMap((mode) => expectations.sessions(mode));
  const checked = [...new Set([...touched, ...sample(random, others, sampled.sessions)])];
  await inParallel(checked, (session) => compareFields(options, session, withOffers.has(session)));
  await inParallel(checked, (session) => checkWidgets(options, session));

  const tags = [...expectations.tags];
  const unresolvedTags = tags.filter(({ unresolved }) => unresolved > 0);
  const touchedTags = touched.map(({ tag, mode }) => expectations.tagSessions(tag, mode));
  const checkedTags = new Set([...unresolvedTags, ...touchedTags, ...sample(random, tags, sampled.tags)]);
  await inParallel([...checkedTags], (tag) => checkTag(options, tag));
  for (const mode of modes) {
    await compareAllSessions(options, mode);
    const ofMode = checked.filter((session) => session.mode === mode);
    await compareRows(options, mode, ofMode);
  }
  // The analytics have reported these sessions, so their records are durable.
  for (const session of checked) session.markDurable();
  expectations.touched.clear();
}

/** Checks all sessions after `verify`, and repeats all payouts and widget events, none of which may count again. */
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
  await inParallel([...expectations.tags], (tag) => checkTag(options, tag));
}
