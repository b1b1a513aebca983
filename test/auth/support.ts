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

/** 2031-05-06T12:00:00Z: some noon, far from any midnight. */
export const noonMs = Date.UTC(2031, 4, 6, 12);

/** Both clocks of a service, moved by hand. */
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

  /** Time passes, on both clocks. */
  pass(ms: number): void {
    this.wall += ms;
    this.monotonic += ms;
  }
}

/** A data folder that goes with the test. */
export function temporaryFolder(t: TestContext): string {
  const folder = mkdtempSync(join(tmpdir(), 'marketplace-access-'));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

export interface KeyWanted {
  readonly account?: string;
  readonly vertical?: Pick<KnownVertical, 'segment' | 'keyPrefix'>;
  readonly mode?: Mode;
  readonly expiresAtMs?: number | null;
  readonly limits?: Partial<KeyLimitOverrides>;
}

/** Issues a key as another process would: through its own connection to the file. */
export function issueKey(folder: string, wanted: KeyWanted = {}, nowMs = noonMs) {
  const register = KeyRegistry.open(keyFilePath(folder));
  try {
    return register.create(
      {
        accountName: wanted.account ?? 'acme',
        vertical: wanted.vertical ?? personalLoans,
        mode: wanted.mode ?? 'live',
        expiresAtMs: wanted.expiresAtMs ?? null,
        limits: { ...noLimitOverrides, ...wanted.limits },
      },
      nowMs,
    );
  } finally {
    register.close();
  }
}

export function revokeKey(folder: string, id: string, nowMs = noonMs) {
  const register = KeyRegistry.open(keyFilePath(folder));
  try {
    return register.revoke(id, nowMs);
  } finally {
    register.close();
  }
}

/** Changes the lists of origins as another process would. */
export function changeOrigins(folder: string, change: (register: EmbedOriginRegistry) => unknown): void {
  const register = EmbedOriginRegistry.open(keyFilePath(folder));
  try {
    change(register);
  } finally {
    register.close();
  }
}

/** A directory on the folder's key file, closed with the test; a fault fails the test unless it is expected. */
export function openDirectory(
  t: TestContext,
  folder: string,
  clock: Clock,
  onReadError: (fault: unknown) => void = (fault) => {
    throw fault;
  },
  onRecovered: () => void = () => {},
): SqliteKeyDirectory {
  const directory = new SqliteKeyDirectory({ path: keyFilePath(folder), clock, onReadError, onRecovered });
  t.after(() => directory.close());
  return directory;
}

const contractLimits: KeyLimits = { requestsPerMinute: 500, analyticsPerMinute: 50, sessionsPerDay: 10_000 };

/** A gatekeeper on a fresh folder, with everything real but the clock. */
export function openGate(t: TestContext, { clock = new ManualClock(), defaultLimits = contractLimits } = {}) {
  const folder = temporaryFolder(t);
  const keyDirectory = openDirectory(t, folder, clock);
  return {
    folder,
    clock,
    directory: keyDirectory,
    gatekeeper: new Authenticator({ keyDirectory, clock, defaultLimits }),
  };
}
