import { hashApiKey, generateApiKey } from '../../../src/access/api-key.ts';
import { Authenticator } from '../../../src/access/gatekeeper.ts';
import type { ApiKey } from '../../../src/access/key-directory.ts';
import { type KeyLimits, noLimitOverrides } from '../../../src/access/key-limits.ts';
import { defaultKeyLimits } from '../../../src/access/key-limits.ts';
import { bounds } from '../../../src/bounds.ts';
import type { Clock } from '../../../src/domain/clock.ts';
import { personalLoans } from '../../../src/verticals/personal-loans.ts';
import type { MicroBenchmark } from '../micro.ts';

/** Keys in use at once: enough that what belongs to them does not all lie in the nearest cache. */
const limitedKeyCount = 5_000;

/** Each key asks as often as its limit allows, evenly over time: this much later comes the next request of any key. */
const authenticatorStepMs = bounds.rateLimitWindowMs / (bounds.requestsPerMinuteDefault * limitedKeyCount) + 1e-6;

const wallMs = 1_760_000_000_000;

/** Low, since it is used up for every key before a refusal is timed. */
const lowLimits = { ...defaultKeyLimits, requestsPerMinute: 20 };

/** A gatekeeper whose time only `forward` moves, and the headers of its keys. */
function createAuthenticator(defaultLimits: KeyLimits) {
  const texts = Array.from({ length: limitedKeyCount }, () => generateApiKey(personalLoans.keyPrefix, 'live'));
  const keys = new Map<string, ApiKey>(
    texts.map((text, index) => [
      hashApiKey(text),
      {
        number: index + 1,
        account: 1,
        vertical: personalLoans.segment,
        mode: 'live',
        expiresAtMs: Number.POSITIVE_INFINITY,
        limits: noLimitOverrides,
      },
    ]),
  );
  let nowMs = 0;
  const clock: Clock = { wallMs: () => wallMs + Math.floor(nowMs), monotonicMs: () => nowMs };
  const gatekeeper = new Authenticator({
    keyDirectory: { findByHash: (hash) => keys.get(hash), close: () => {} },
    clock,
    defaultLimits,
  });
  const forward = (ms: number): void => {
    nowMs += ms;
  };
  return { gatekeeper, headers: texts.map((text) => `Bearer ${text}`), forward };
}

export const authenticatorBenchmarks: readonly MicroBenchmark[] = [
  {
    name: 'access/gatekeeper: admit, 5,000 keys at their limit',
    call: 'one request that the limits just admit',
    prepare: () => {
      const { gatekeeper, headers, forward } = createAuthenticator(defaultKeyLimits);
      return {
        calls: limitedKeyCount,
        run: () => {
          let admitted = 0;
          for (const header of headers) {
            forward(authenticatorStepMs);
            if (gatekeeper.admit(header, personalLoans, 'get_marketplace').ok) admitted++;
          }
          if (admitted !== limitedKeyCount) throw new Error('a request within its limit was refused');
          return admitted;
        },
      };
    },
  },
  {
    name: 'access/gatekeeper: refuse, 5,000 keys over their limit',
    call: 'one request more than a minute admits',
    prepare: () => {
      const { gatekeeper, headers } = createAuthenticator(lowLimits);
      for (let taken = 0; taken < lowLimits.requestsPerMinute; taken++) {
        for (const header of headers) gatekeeper.admit(header, personalLoans, 'get_marketplace');
      }
      return {
        calls: limitedKeyCount,
        run: () => {
          let refused = 0;
          for (const header of headers) {
            const admission = gatekeeper.admit(header, personalLoans, 'get_marketplace');
            if (!admission.ok && admission.refusal.code === 'RATE_LIMIT_EXCEEDED') refused++;
          }
          if (refused !== limitedKeyCount) throw new Error('a request over its limit was admitted');
          return refused;
        },
      };
    },
  },
];
