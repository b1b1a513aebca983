import { defaultClickDecision } from '../clicks/click-decision.ts';
import { type AppendedRecord, LogUnavailableError } from '../event-log/event-log.ts';
import { formatSubId } from '../ids/sub-id.ts';
import type { RelayedClick } from '../shards/relayed-clicks.ts';
import {
  type ClickRequest,
  type ClickResult,
  type FollowClickDeps,
  followClick,
  toClickRecord,
} from './follow-click.ts';
import { grantAttemptsMax } from './grant-attempts.ts';

/** Decides nothing: only the shard of the account knows the limits and the earlier clicks of a session. */
const undecided: Pick<FollowClickDeps, 'clickDecider' | 'clickLimiter'> = {
  clickDecider: { decideClick: () => defaultClickDecision, needsGrant: () => false, waitForGrant: async () => {} },
  clickLimiter: { tryCountClick: () => true },
};

/**
 * Redirects a click of an account of another shard, which does not answer. Its `click_id` contains the full value of the click.
 *
 * @param clickedMs time of the request
 * @param addClick gets a click that can count, for the shard of the account. Returns false if it cannot keep the click
 */
export function redirectClickOfOtherShard(
  deps: FollowClickDeps,
  request: ClickRequest,
  clickedMs: number,
  addClick: (click: RelayedClick) => boolean,
): Promise<ClickResult> {
  const { clock } = deps;
  return followClick(
    {
      ...deps,
      ...undecided,
      clock: { wallMs: () => clickedMs, monotonicMs: () => clock.monotonicMs() },
      ledger: {
        healthy: true,
        append: ([, wallMs, sub, catalogVersion, offerId, lenderName, valueMicros, , , , payoutMicros = null]) => {
          const click = [
            wallMs,
            Uint8Array.from(sub),
            catalogVersion,
            offerId,
            lenderName,
            valueMicros,
            payoutMicros,
          ] as const;
          return addClick(click) ? { position: 0, durable: Promise.resolve() } : null;
        },
        appendWithoutWaiting: () => null,
      },
    },
    request,
  );
}

/**
 * Decides and records a click that another shard has redirected. Resolves with true when the record is durable, or if the click needs no
 * record. While the ledger refuses the record, tries again, until `isConnected` returns false. Then resolves with false: the other shard still
 * has the click, and sends it again.
 */
export async function recordRelayedClick(
  deps: Pick<FollowClickDeps, 'clickDecider' | 'clickLimiter' | 'clickTimeout' | 'ledger' | 'onUnbooked'>,
  click: RelayedClick,
  isConnected: () => boolean,
): Promise<boolean> {
  const { clickDecider, clickLimiter } = deps;
  const [clickedMs, sub, , offerId, , valueMicros] = click;
  let isCounted = false;
  while (isConnected()) {
    for (let attempt = 0; attempt < grantAttemptsMax; attempt++) {
      if (!clickDecider.needsGrant(sub, offerId, clickedMs, valueMicros)) break;
      await clickDecider.waitForGrant();
    }
    const decision = clickDecider.decideClick(sub, offerId, clickedMs, valueMicros);
    if (decision.needsRecord === false) return true;
    isCounted ||= clickLimiter.tryCountClick(formatSubId(sub), sub, offerId);
    if (!isCounted) return true;
    const appended = deps.ledger.append(toClickRecord(click, decision));
    if (appended !== null) {
      if (decision.unbookedReason !== null) deps.onUnbooked(decision.unbookedReason);
      await waitUntilDurable(appended);
      return true;
    }
    await deps.clickTimeout.wait(new Promise(() => {}));
  }
  return false;
}

/** Waits until a record is durable, also after a failed write. */
async function waitUntilDurable({ durable }: AppendedRecord): Promise<void> {
  try {
    await durable;
  } catch (error) {
    if (!(error instanceof LogUnavailableError) || error.durableLater === null) throw error;
    await error.durableLater;
  }
}
