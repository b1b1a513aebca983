import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import { Authenticator } from '../../src/auth/authenticator.ts';
import { EmbedOriginRegistry } from '../../src/auth/embed-origin-registry.ts';
import { keyFilePath } from '../../src/auth/key-file.ts';
import { KeyRegistry } from '../../src/auth/key-registry.ts';
import { type KeyLimitOverrides, type KeyLimits, noLimitOverrides } from '../../src/auth/rate-limits.ts';
import { SqliteKeyDirectory } from '../../src/auth/sqlite-key-directory.ts';
import type { Clock } from '../../src/domain/clock.ts';
import type { Mode } from '../../src/domain/mode.ts';
import { personalLoans } from '../../src/verticals/personal-loans/personal-loans.ts';
import type { KnownVertical } from '../../src/verticals/registry.ts';

/** 2031-05-06T12:00:00Z. */
export const noonMs = Date.UTC(2031, 4, 6, 12);

/** A wall clock and a monotonic clock that tests advance. */
export class ManualClock implements Clock {
  wall: number;
  monotonic = 5_000_000.25;

  constructor(wallMs = noonMs) {
    this.wall = wallMs;
  }

  wallMs(): number {
    return this.wall;
  }

  monotonicMs(): number {
    return this.monotonic;
  }

  /** Advances both clocks. */
  pass(ms: number): void {
    this.wall += ms;
    this.monotonic += ms;
  }
}

/** Creates a data folder that is deleted after the test. */
export function temporaryFolder(t: TestContext): string {
  const folder = mkdtempSync(join(tmpdir(), 'marketplace-access-'));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

export interface KeyOptions {
  readonly account?: string;
  readonly vertical?: Pick<KnownVertical, 'segment' | 'keyPrefix'>;
  readonly mode?: Mode;
  readonly expiresAtMs?: number | null;
  readonly limits?: Partial<KeyLimitOverrides>;
}

/** Issues a key through a separate connection, as another process would. */
export function issueKey(folder: string, options: KeyOptions = {}, nowMs = noonMs) {
  const registry = KeyRegistry.open(keyFilePath(folder));
  try {
    return registry.create(
      {
        accountName: options.account ?? 'acme',
        vertical: options.vertical ?? personalLoans,
        mode: options.mode ?? 'live',
        expiresAtMs: options.expiresAtMs ?? null,
        limits: { ...noLimitOverrides, ...options.limits },
      },
      nowMs,
    );
  } finally {
    registry.close();
  }
}

export function revokeKey(folder: string, id: string, nowMs = noonMs) {
  const registry = KeyRegistry.open(keyFilePath(folder));
  try {
    return registry.revoke(id, nowMs);
  } finally {
    registry.close();
  }
}

/** Changes embed origins through a separate connection, as another process would. */
export function changeOrigins(folder: string, change: (registry: EmbedOriginRegistry) => unknown): void {
  const registry = EmbedOriginRegistry.open(keyFilePath(folder));
  try {
    change(registry);
  } finally {
    registry.close();
  }
}

/** Opens a directory until the end of the test. A read error fails the test unless `onReadError` is given. */
export function openDirectory(
  t: TestContext,
  folder: string,
  clock: Clock,
  onReadError: (error: unknown) => void = (error) => {
    throw error;
  },
  onRecovered: () => void = () => {},
): SqliteKeyDirectory {
  const directory = new SqliteKeyDirectory({ path: keyFilePath(folder), clock, onReadError, onRecovered });
  t.after(() => directory.close());
  return directory;
}

const contractLimits: KeyLimits = { requestsPerMinute: 500, analyticsPerMinute: 50, sessionsPerDay: 10_000 };

/** Opens an authenticator on a new data folder. Only the clock is simulated. */
export function openAuth(t: TestContext, { clock = new ManualClock(), defaultLimits = contractLimits } = {}) {
  const folder = temporaryFolder(t);
  const keyDirectory = openDirectory(t, folder, clock);
  return {
    folder,
    clock,
    keyDirectory,
    authenticator: new Authenticator({ keyDirectory, clock, defaultLimits }),
  };
}
