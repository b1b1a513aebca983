import { hash, randomBytes } from 'node:crypto';
import { bounds } from '../bounds.ts';
import type { Clock } from '../domain/clock.ts';
import { failureOutcome, type Outcome, successOutcome } from '../domain/outcome.ts';
import type { ConsoleLoginFile } from './console-login-file.ts';
import { KeyedRateLimit } from './keyed-rate-limit.ts';
import { SlidingWindow } from './rate-limits.ts';

/** The console of partners on the public listener, or the console of the operator on the operations listener. */
export type ConsoleName = 'partner' | 'operator';

/** A login at a console. */
export interface ConsoleLogin {
  readonly console: ConsoleName;
  /** SHA-256 of the API key or of the operator token, as 32 Latin-1 characters. */
  readonly secretHash: string;
  readonly expiresAtMs: number;
  /** Requests of the login in the last minute. */
  readonly requests: SlidingWindow;
}

/**
 * Stores the logins at both consoles, in memory and in a file. The cookie of a login contains a random token, of which only the hash is stored.
 *
 * The number of logins is limited, for each API key or operator token and for each console, so that partners cannot end the logins of the
 * operator. A login above a limit ends the oldest login of this key or token, or of this console.
 */
export class ConsoleLogins {
  readonly #clock: Clock;
  readonly #file: ConsoleLoginFile;
  /** Logins by the hash of their token, oldest first. */
  readonly #logins = new Map<string, ConsoleLogin>();
  /** Limit of logins per minute, by the hash of the API key or operator token. */
  readonly #recentLogins = new KeyedRateLimit(bounds.consoleLoginsPerMinute, bounds.consoleLoginsMax);

  /** Restores the logins from the file. */
  constructor(clock: Clock, file: ConsoleLoginFile) {
    this.#clock = clock;
    this.#file = file;
    for (const { tokenHash, ...login } of file.load(clock.wallMs())) {
      this.#logins.set(tokenHash, { ...login, requests: new SlidingWindow(bounds.consoleRequestsPerMinute) });
    }
  }

  /**
   * Creates a login. Returns TOO_MANY_LOGINS after too many logins with the same API key or operator token.
   *
   * @param tokenPrefix public text at the start of the token
   */
  create(
    console: ConsoleName,
    secretHash: string,
    tokenPrefix = '',
  ): Outcome<{ readonly token: string; readonly login: ConsoleLogin }> {
    const waitMs = this.#recentLogins.countRequest(secretHash, this.#clock.monotonicMs());
    if (waitMs > 0) {
      return failureOutcome({ code: 'TOO_MANY_LOGINS', retryAfterSeconds: Math.ceil(waitMs / 1000) });
    }
    this.#makeRoom(console, secretHash);
    const token = tokenPrefix + randomBytes(bounds.consoleTokenBytes).toString('base64url');
    const login: ConsoleLogin = {
      console,
      secretHash,
      expiresAtMs: this.#clock.wallMs() + bounds.consoleLoginMs,
      requests: new SlidingWindow(bounds.consoleRequestsPerMinute),
    };
    const tokenHash = hashToken(token);
    this.#logins.set(tokenHash, login);
    this.#file.add({ tokenHash, console, secretHash, expiresAtMs: login.expiresAtMs });
    return successOutcome({ token, login });
  }

  /** Finds the login with this token at a console; undefined if there is none, or if it has expired. */
  find(console: ConsoleName, token: string): ConsoleLogin | undefined {
    const login = this.#logins.get(hashToken(token));
    return login?.console === console && this.#clock.wallMs() < login.expiresAtMs ? login : undefined;
  }

  /** Ends the login with this token at a console. Has no effect if there is none. */
  end(console: ConsoleName, token: string): void {
    if (this.find(console, token) !== undefined) this.#delete(hashToken(token));
  }

  /** Deletes expired logins, and the oldest login of the key, of the token or of the console if it has reached its limit. */
  #makeRoom(console: ConsoleName, secretHash: string): void {
    const nowMs = this.#clock.wallMs();
    const ofSecret: string[] = [];
    const ofConsole: string[] = [];
    for (const [tokenHash, login] of this.#logins) {
      if (nowMs >= login.expiresAtMs) this.#delete(tokenHash);
      else if (login.console === console) {
        ofConsole.push(tokenHash);
        if (login.secretHash === secretHash) ofSecret.push(tokenHash);
      }
    }
    if (ofSecret.length >= bounds.consoleLoginsPerSecretMax) this.#delete(ofSecret[0]!);
    else if (ofConsole.length >= bounds.consoleLoginsMax) this.#delete(ofConsole[0]!);
  }

  #delete(tokenHash: string): void {
    this.#logins.delete(tokenHash);
    this.#file.delete(tokenHash);
  }
}

/** Returns the SHA-256 of the token of a login as 32 Latin-1 characters. */
function hashToken(token: string): string {
  return hash('sha256', token, 'binary');
}
