import { bounds } from '../bounds.ts';
import type { Clock } from '../domain/clock.ts';
import { type ApiError, failureOutcomeWithCode, type Outcome } from '../domain/outcome.ts';
import type { Vertical } from '../domain/vertical.ts';
import { formatTenantCode } from '../ids/tenant-code.ts';
import { type ApiKey, getTenantOfKey, hashApiKey, parseBearerKey } from './api-key.ts';
import {
  type AdmittedCaller,
  type AuthRejection,
  findForbiddenReason,
  forbiddenErrors,
  type OperationAccess,
} from './authenticator.ts';
import type { ConsoleLogin, ConsoleLogins, ConsoleName } from './console-logins.ts';
import type { OperatorToken } from './operator-token.ts';
import { createRateLimitPolicies, createRateLimitStatus } from './rate-limits.ts';
import type { SqliteKeyDirectory } from './sqlite-key-directory.ts';

/** Result of a successful login. */
export interface NewLogin {
  /** Text for the cookie. */
  readonly token: string;
  readonly login: ConsoleLogin;
}

/** Logins at one of the consoles. */
export interface ConsoleAccess {
  readonly console: ConsoleName;
  /** Checks an API key or an operator token, and creates a login. Returns LOGIN_FAILED for a wrong one. */
  logIn(secret: string): Outcome<NewLogin>;
  /** Ends the login with this token, if there is one. */
  logOut(token: string | null): void;
  /** Returns the login with this token; null if there is none, or if its API key or operator token is not valid any more. */
  findLogin(token: string | null): ConsoleLogin | null;
}

/** Counts a request of a login. Returns the error if the login has used up its requests per minute, and otherwise null. */
export function countConsoleRequest({ requests }: ConsoleLogin, nowMs: number): ApiError | null {
  if (requests.remainingRequests(nowMs) > 0) {
    requests.addRequest(nowMs);
    return null;
  }
  return { code: 'RATE_LIMIT_EXCEEDED', retryAfterSeconds: Math.ceil(requests.retryAfterMs(nowMs) / 1000) };
}

/** Logins at the operator console. A login ends when the operator token is replaced. */
export class OperatorConsole implements ConsoleAccess {
  readonly console = 'operator';
  readonly #token: OperatorToken;
  readonly #logins: ConsoleLogins;

  constructor(token: OperatorToken, logins: ConsoleLogins) {
    this.#token = token;
    this.#logins = logins;
  }

  logIn(secret: string): Outcome<NewLogin> {
    const secretHash = this.#token.findHash(secret);
    return secretHash === null ? failureOutcomeWithCode('LOGIN_FAILED') : this.#logins.create(this.console, secretHash);
  }

  logOut(token: string | null): void {
    if (token !== null) this.#logins.end(this.console, token);
  }

  findLogin(token: string | null): ConsoleLogin | null {
    const login = token === null ? undefined : this.#logins.find(this.console, token);
    return login !== undefined && this.#token.isCurrentHash(login.secretHash) ? login : null;
  }
}

const limitPolicy = createRateLimitPolicies({
  requestsPerMinute: bounds.consoleRequestsPerMinute,
  analyticsPerMinute: bounds.consoleRequestsPerMinute,
  sessionsPerDay: bounds.consoleRequestsPerMinute,
}).requests.perMinute;

const loginRequired: AuthRejection = {
  ok: false,
  error: { code: 'LOGIN_REQUIRED' },
  limitStatus: null,
  caller: null,
};

/** Logins at the partner console. A login has the rights of its API key, and ends when the key expires or is revoked. */
export class PartnerConsole implements ConsoleAccess {
  readonly console = 'partner';
  readonly #keyDirectory: Pick<SqliteKeyDirectory, 'findAccountAndKeyName' | 'findKeyByHash'>;
  readonly #logins: ConsoleLogins;
  readonly #clock: Clock;
  readonly #verticals: readonly Pick<Vertical, 'segment' | 'number'>[];

  constructor(
    keyDirectory: Pick<SqliteKeyDirectory, 'findAccountAndKeyName' | 'findKeyByHash'>,
    logins: ConsoleLogins,
    clock: Clock,
    verticals: readonly Pick<Vertical, 'segment' | 'number'>[],
  ) {
    this.#verticals = verticals;
    this.#keyDirectory = keyDirectory;
    this.#logins = logins;
    this.#clock = clock;
  }

  /** The token of a login starts with the tenant of its API key, so that any shard finds the shard that stores the login. */
  logIn(secret: string): Outcome<NewLogin> {
    const secretHash = hashApiKey(secret);
    const key = parseBearerKey(`Bearer ${secret}`) === secret ? this.#findValidKey(secretHash) : null;
    if (key === null) return failureOutcomeWithCode('LOGIN_FAILED');
    return this.#logins.create(this.console, secretHash, formatTenantCode(getTenantOfKey(key, this.#verticals)));
  }

  logOut(token: string | null): void {
    if (token !== null) this.#logins.end(this.console, token);
  }

  findLogin(token: string | null): ConsoleLogin | null {
    const login = token === null ? undefined : this.#logins.find(this.console, token);
    return login === undefined || this.#findValidKey(login.secretHash) === null ? null : login;
  }

  /** Returns the API key of a login from `findLogin`, with its names. */
  describeKey({ secretHash }: ConsoleLogin) {
    const key = this.#findValidKey(secretHash);
    if (key === null) return null;
    const { account, key: id } = this.#keyDirectory.findAccountAndKeyName({
      account: key.account,
      keyNumber: key.number,
    });
    return { key, id, accountName: account };
  }

  /** Checks a request for an operation, and counts it toward the limit of its login, not toward the limits of its API key. */
  admitRequest(token: string | null, vertical: Vertical, operation: OperationAccess): AdmittedCaller | AuthRejection {
    const login = this.findLogin(token);
    const key = login && this.#findValidKey(login.secretHash);
    if (login === null || key === null) return loginRequired;
    const caller = { account: key.account, vertical, mode: key.mode, keyNumber: key.number };
    const reason = findForbiddenReason(key, vertical, operation);
    if (reason !== null) return { ok: false, error: forbiddenErrors[reason], limitStatus: null, caller };
    const nowMs = this.#clock.monotonicMs();
    const error = countConsoleRequest(login, nowMs);
    const { requests } = login;
    const resetMs = error === null ? requests.timeToResetMs(nowMs) : requests.retryAfterMs(nowMs);
    const remaining = requests.remainingRequests(nowMs);
    const limitStatus = createRateLimitStatus(limitPolicy, remaining, resetMs, this.#clock.wallMs());
    if (error !== null) return { ok: false, error, limitStatus, caller };
    return { ok: true, caller, limitStatus, quotaReservation: null };
  }

  #findValidKey(secretHash: string): ApiKey | null {
    const key = this.#keyDirectory.findKeyByHash(secretHash);
    return key !== undefined && this.#clock.wallMs() < key.expiresAtMs ? key : null;
  }
}
