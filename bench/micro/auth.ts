import type { ApiKey } from '../../src/auth/api-key.ts';
import { generateApiKey, hashApiKey, parseBearerKey } from '../../src/auth/api-key.ts';
import { Authenticator } from '../../src/auth/authenticator.ts';
import { keyFilePath } from '../../src/auth/key-file.ts';
import { KeyRegistry } from '../../src/auth/key-registry.ts';
import { DailyCounter } from '../../src/auth/key-usage.ts';
import { defaultKeyLimits, type KeyLimits, noLimitOverrides, SlidingWindow } from '../../src/auth/rate-limits.ts';
import { SqliteKeyDirectory } from '../../src/auth/sqlite-key-directory.ts';
import { bounds } from '../../src/bounds.ts';
import { type Clock, systemClock } from '../../src/domain/clock.ts';
import { personalLoans } from '../../src/verticals/personal-loans/personal-loans.ts';
import { createTemporaryFolder } from '../target/owned-resources.ts';
import { type MicroBenchmark, perItemBenchmark } from './micro-benchmark.ts';

const issuedKeyCount = 500;

export const apiKeyBenchmark: MicroBenchmark = perItemBenchmark<string>(
  `auth/api-key: hash a key and find it among ${issuedKeyCount}`,
  'one Authorization header: key, hash, directory',
  async ({ folder }) => {
    const owned = await createTemporaryFolder(folder, 'keys-');
    const path = keyFilePath(owned.path);
    const items = issueApiKeys(path);
    const onReadError = (error: unknown) => {
      throw error;
    };
    const directory = new SqliteKeyDirectory({ path, clock: systemClock, onReadError });
    return {
      items,
      run: (header) => {
        const key = parseBearerKey(header);
        return key === null ? 0 : (directory.findByHash(hashApiKey(key))?.number ?? 0);
      },
      close: async () => {
        directory.close();
        await owned.remove();
      },
    };
  },
);

function issueApiKeys(path: string): string[] {
  const register = KeyRegistry.open(path);
  const wanted = { accountName: 'micro', vertical: personalLoans, mode: 'live', expiresAtMs: null } as const;
  const keys = Array.from(
    { length: issuedKeyCount },
    () => register.create({ ...wanted, limits: noLimitOverrides }, Date.now()).key,
  );
  register.close();
  return keys.map((key) => `Bearer ${key}`);
}

/** Number of API keys. The data of these keys is larger than the L1 cache. */
const limitedKeyCount = 5_000;

/** Time between two requests if all keys together send requests evenly at their limits. */
const authenticatorStepMs = bounds.rateLimitWindowMs / (bounds.requestsPerMinuteDefault * limitedKeyCount) + 1e-6;

const wallMs = 1_760_000_000_000;

/** Low rate limits, because each key must reach its limits before the rejections are measured. */
const lowLimits = { ...defaultKeyLimits, requestsPerMinute: 20 };

/** Authenticator with a manual clock, and one Authorization header per key. */
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
  const authenticator = new Authenticator({
    keyDirectory: { findByHash: (hash) => keys.get(hash), close: () => {} },
    clock,
    defaultLimits,
  });
  const forward = (ms: number): void => {
    nowMs += ms;
  };
  return { authenticator, headers: texts.map((text) => `Bearer ${text}`), forward };
}

export const authenticatorBenchmarks: readonly MicroBenchmark[] = [
  perItemBenchmark(
    'auth/authenticator: admit, 5,000 keys at their limit',
    'one request that the limits just admit',
    () => {
      const { authenticator, headers, forward } = createAuthenticator(defaultKeyLimits);
      return {
        items: headers,
        run: (header) => {
          forward(authenticatorStepMs);
          return authenticator.admit(header, personalLoans, 'get_marketplace').ok ? 1 : 0;
        },
      };
    },
  ),
  perItemBenchmark(
    'auth/authenticator: reject, 5,000 keys over their limit',
    'one request more than a minute admits',
    () => {
      const { authenticator, headers } = createAuthenticator(lowLimits);
      const admit = (header: string) => authenticator.admit(header, personalLoans, 'get_marketplace');
      for (let taken = 0; taken < lowLimits.requestsPerMinute; taken++) headers.forEach(admit);
      return {
        items: headers,
        run: (header) => {
          const admission = admit(header);
          return !admission.ok && admission.error.code === 'RATE_LIMIT_EXCEEDED' ? 1 : 0;
        },
      };
    },
  ),
];

const slidingWindowCalls = 1_000;
const slidingWindowLimit = bounds.requestsPerMinuteDefault;
/** Benchmark in which each request arrives at the time at which the oldest request leaves the window. */
const slidingWindowStepMs = bounds.rateLimitWindowMs / slidingWindowLimit;

export const slidingWindowBenchmarks: readonly MicroBenchmark[] = [
  {
    name: 'auth/sliding-window: admit at the limit',
    call: 'one request of 500 a minute: forget the oldest, look, take',
    prepare: () => {
      const window = new SlidingWindow(slidingWindowLimit);
      let nowMs = 0;
      return {
        calls: slidingWindowCalls,
        run: () => {
          let admitted = 0;
          for (let i = 0; i < slidingWindowCalls; i++) {
            nowMs += slidingWindowStepMs;
            if (window.remainingRequests(nowMs) === 0) continue;
            window.admit(nowMs);
            admitted++;
          }
          if (admitted !== slidingWindowCalls) throw new Error('requests below the limit were rejected');
          return admitted;
        },
      };
    },
  },
  {
    name: 'auth/sliding-window: reject at the limit',
    call: 'one request too many: look, and how long to wait',
    prepare: () => {
      const window = new SlidingWindow(slidingWindowLimit);
      for (let taken = 0; taken < slidingWindowLimit; taken++) window.admit(taken);
      return {
        calls: slidingWindowCalls,
        run: () => {
          let waitMs = 0;
          for (let i = 0; i < slidingWindowCalls; i++) {
            const nowMs = slidingWindowLimit + i;
            if (window.remainingRequests(nowMs) > 0) throw new Error('a request above the limit was admitted');
            waitMs += window.retryAfterMs(nowMs);
          }
          return waitMs;
        },
      };
    },
  },
];

const dayCountCalls = 1_000;
/** Low number of requests per simulated day, so that the benchmark includes changes of the day. */
const sessionsPerDay = 5;

export const dayCountBenchmark: MicroBenchmark = {
  name: 'auth/key-usage: reserve in the daily quota and release every fourth',
  call: 'one session asked for',
  prepare: () => {
    let today = 20_000;
    return {
      calls: dayCountCalls,
      run: () => {
        const sessions = new DailyCounter();
        let counted = 0;
        for (let i = 0; i < dayCountCalls; i++) {
          if (i % sessionsPerDay === 0) today++;
          counted += sessions.count(today);
          const reservation = sessions.reserve(today);
          if (i % 4 === 3) reservation.release();
        }
        return counted;
      },
    };
  },
};
