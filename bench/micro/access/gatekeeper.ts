import { hashApiKey, newApiKey } from '../../../src/access/api-key.ts';
import { Gatekeeper } from '../../../src/access/gatekeeper.ts';
import type { ApiKey } from '../../../src/access/key-directory.ts';
import { type KeyLimits, noOwnLimits } from '../../../src/access/key-limits.ts';
import { bounds } from '../../../src/bounds.ts';
import type { Clock } from '../../../src/domain/clock.ts';
import { personalLoans } from '../../../src/verticals/personal-loans.ts';
import type { Micro } from '../micro.ts';

/** Keys in use at once: enough that what belongs to them does not all lie in the nearest cache. */
const keyCount = 5_000;

/** Each key asks as often as its limit allows, evenly over time: this much later comes the next request of any key. */
const stepMs = bounds.minuteWindowMs / (bounds.requestsPerMinute * keyCount) + 1e-6;

const wallMs = 1_760_000_000_000;

/** Low, since it is used up for every key before a refusal is timed. */
const lowLimits = { ...bounds, requestsPerMinute: 20 };

/** A gatekeeper whose time only `forward` moves, and the headers of its keys. */
function newGate(defaultLimits: KeyLimits) {
  const texts = Array.from({ length: keyCount }, () => newApiKey(personalLoans.keyPrefix, 'live'));
  const keys = new Map<string, ApiKey>(
    texts.map((text, index) => [
      hashApiKey(text),
      {
        number: index + 1,
        account: 1,
        vertical: personalLoans.segment,
        mode: 'live',
        expiresAtMs: Number.POSITIVE_INFINITY,
        limits: noOwnLimits,
      },
    ]),
  );
  let nowMs = 0;
  const clock: Clock = { wallMs: () => wallMs + Math.floor(nowMs), monotonicMs: () => nowMs };
  const gatekeeper = new Gatekeeper({
    directory: { find: (hash) => keys.get(hash), close: () => {} },
    clock,
    defaultLimits,
  });
  const forward = (ms: number): void => {
    nowMs += ms;
  };
  return { gatekeeper, headers: texts.map((text) => `Bearer ${text}`), forward };
}

export const gatekeeperMicros: readonly Micro[] = [
  {
    name: 'access/gatekeeper: admit, 5,000 keys at their limit',
    call: 'one request that the limits just admit',
    prepare: () => {
      const { gatekeeper, headers, forward } = newGate(bounds);
      return {
        calls: keyCount,
        run: () => {
          let admitted = 0;
          for (const header of headers) {
            forward(stepMs);
            if (gatekeeper.admit(header, personalLoans, 'get_marketplace').ok) admitted++;
          }
          if (admitted !== keyCount) throw new Error('a request within its limit was refused');
          return admitted;
        },
      };
    },
  },
  {
    name: 'access/gatekeeper: refuse, 5,000 keys over their limit',
    call: 'one request more than a minute admits',
    prepare: () => {
      const { gatekeeper, headers } = newGate(lowLimits);
      for (let taken = 0; taken < lowLimits.requestsPerMinute; taken++) {
        for (const header of headers) gatekeeper.admit(header, personalLoans, 'get_marketplace');
      }
      return {
        calls: keyCount,
        run: () => {
          let refused = 0;
          for (const header of headers) {
            const admission = gatekeeper.admit(header, personalLoans, 'get_marketplace');
            if (!admission.ok && admission.refusal.code === 'RATE_LIMIT_EXCEEDED') refused++;
          }
          if (refused !== keyCount) throw new Error('a request over its limit was admitted');
          return refused;
        },
      };
    },
  },
];
