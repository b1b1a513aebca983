import type { ApiKey } from '../../src/auth/api-key.ts';
import { generateApiKey, hashApiKey, parseBearerKey } from '../../src/auth/api-key.ts';
import { Authenticator } from '../../src/auth/authenticator.ts';
import { keyFilePath } from '../../src/auth/key-file.ts';
import { defaultKeyLimits, defaultLimitOverrides, type KeyLimits } from '../../src/auth/rate-limits.ts';
import { SqliteKeyDirectory } from '../../src/auth/sqlite-key-directory.ts';
import { bounds } from '../../src/bounds.ts';
import { type Clock, systemClock } from '../../src/domain/clock.ts';
import { personalLoans } from '../../src/verticals/personal-loans/personal-loans.ts';
import { createTemporaryFolder } from '../target/owned-resources.ts';
import { createApiKeys } from '../target/service-target.ts';
import { createPerItemBenchmark, type MicroBenchmark } from './micro-benchmark.ts';

const issuedKeyCount = 500;

export const apiKeyBenchmark: MicroBenchmark = createPerItemBenchmark<string>(
  `auth/api-key: hash and look up one of ${issuedKeyCount} keys`,
  async ({ folder }) => {
    const owned = await createTemporaryFolder(folder, 'keys-');
    const items = (await createApiKeys(owned.path, issuedKeyCount)).map((key) => `Bearer ${key}`);
    const onReadError = (error: unknown) => {
      throw error;
    };
    const directory = new SqliteKeyDirectory({ path: keyFilePath(owned.path), clock: systemClock, onReadError });
    return {
      items,
      run: (header) => {
        const key = parseBearerKey(header);
        return key === null ? 0 : (directory.findKeyByHash(hashApiKey(key))?.number ?? 0);
      },
      close: async () => {
        directory.close();
        await owned.remove();
      },
    };
  },
);

/** Number of API keys. The data of 5,000 API keys does not fit into the L1 cache. */
const limitedKeyCount = 5_000;

/** Milliseconds from one request to the next: the shortest interval at which no API key exceeds its rate limit. */
const authenticatorStepMs = bounds.rateLimitWindowMs / (bounds.requestsPerMinuteDefault * limitedKeyCount) + 1e-6;

const operation = { limit: 'requests' } as const;

const wallMs = 1_760_000_000_000;

/** Low rate limits, so that each key reaches its limit after a few requests. The benchmark measures only rejected requests. */
const lowLimits = { ...defaultKeyLimits, requestsPerMinute: 20 };

/** Creates API keys and an authenticator for these keys. The clock of the authenticator advances only when `forward` is called. */
function createAuthenticator(defaultLimits: KeyLimits) {
  const texts = Array.from({ length: limitedKeyCount }, () => generateApiKey(personalLoans, 'live', 1));
  const keys = new Map<string, ApiKey>(
    texts.map((text, index) => [
      hashApiKey(text),
      {
        number: index + 1,
        account: 1,
        vertical: personalLoans.segment,
        mode: 'live',
        scope: 'full',
        expiresAtMs: Number.POSITIVE_INFINITY,
        limits: defaultLimitOverrides,
      },
    ]),
  );
  let nowMs = 0;
  const clock: Clock = { wallMs: () => wallMs + Math.floor(nowMs), monotonicMs: () => nowMs };
  const authenticator = new Authenticator({
    keyDirectory: { findKeyByHash: (hash) => keys.get(hash) },
    clock,
    defaultLimits,
  });
  const forward = (ms: number): void => {
    nowMs += ms;
  };
  return { authenticator, headers: texts.map((text) => `Bearer ${text}`), forward };
}

export const authenticatorBenchmarks: readonly MicroBenchmark[] = [
  createPerItemBenchmark('auth/authenticator: admit a request, 5,000 keys at their limit', () => {
    const { authenticator, headers, forward } = createAuthenticator(defaultKeyLimits);
    return {
      items: headers,
      run: (header) => {
        forward(authenticatorStepMs);
        return authenticator.admitRequest(header, personalLoans, operation).ok ? 1 : 0;
      },
    };
  }),
  createPerItemBenchmark('auth/authenticator: reject a request, 5,000 keys over their limit', () => {
    const { authenticator, headers } = createAuthenticator(lowLimits);
    const admit = (header: string) => authenticator.admitRequest(header, personalLoans, operation);
    for (let taken = 0; taken < lowLimits.requestsPerMinute; taken++) headers.forEach(admit);
    return {
      items: headers,
      run: (header) => {
        const admission = admit(header);
        return !admission.ok && admission.error.code === 'RATE_LIMIT_EXCEEDED' ? 1 : 0;
      },
    };
  }),
];
