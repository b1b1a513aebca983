import type { Level, Logger } from 'pino';
import { bounds } from '../bounds.ts';
import type { Clock } from '../domain/clock.ts';
import { type ErrorCode, errorTable } from '../domain/errors.ts';
import { getOrAdd } from '../domain/get-or-add.ts';
import type { ApiError, ServiceProblem } from '../domain/outcome.ts';
import type { CallerIdentity, LoggedRequest } from '../http/engines/listener.ts';
import type { Reply } from '../http/engines/response-head.ts';
import { describeError } from './describe-error.ts';

/** Rate limiter for the log lines of one kind: allows `burst` lines at once and `perSecond` lines on average. */
export class TokenBucket {
  readonly #perMs: number;
  readonly #burst: number;
  #tokens: number;
  #refilledMs: number;

  constructor(perSecond: number, burst: number, nowMs: number) {
    this.#perMs = perSecond / 1000;
    this.#burst = burst;
    this.#tokens = burst;
    this.#refilledMs = nowMs;
  }

  /** Consumes one token of the rate limiter; returns false if no token is left. `nowMs` is the monotonic time in milliseconds. */
  tryTakeLogToken(nowMs: number): boolean {
    this.#tokens = Math.min(this.#burst, this.#tokens + (nowMs - this.#refilledMs) * this.#perMs);
    this.#refilledMs = nowMs;
    if (this.#tokens < 1) return false;
    this.#tokens -= 1;
    return true;
  }
}

export interface RequestLoggerOptions {
  readonly logger: Logger;
  readonly clock: Clock;
  /** Route names by `RequestContext.routeIndex`. Log lines contain no path, because a path can contain submitted data. */
  readonly routeNames: readonly string[];
  /** Returns the key ID and account name of a caller, as `marketplace keys list` shows them. */
  readonly callerNames: (caller: CallerIdentity) => {
    readonly key?: string | undefined;
    readonly account?: string | undefined;
  };
}

/** HTTP methods that are logged by name; every unknown method is logged as `other`. */
const knownMethods = new Set(['GET', 'HEAD', 'POST', 'OPTIONS', 'PUT', 'PATCH', 'DELETE', 'TRACE', 'CONNECT']);

/** Log levels of the errors that the service itself causes. Error codes that are not in this table are logged at level `info`. */
const levelsByCode: Partial<Record<ErrorCode, Level>> = { INTERNAL_ERROR: 'error', SERVICE_UNAVAILABLE: 'warn' };

/**
 * Logs one line for each rejected or failed request. At level `debug`, also logs one line for each successful request. A log line contains
 * the request ID, route, method, outcome, key ID and account name, but no submitted data.
 *
 * The number of log lines per kind of error or problem is limited. Lines above the limit are dropped, and the number of dropped lines is
 * logged once a second. At level `debug`, the number of lines is not limited.
 */
export class RequestLogger {
  /** Function that logs a response with a status below 400; undefined if `debug` lines are not logged. */
  readonly logSuccess: ((request: LoggedRequest, reply: Reply) => void) | undefined;
  readonly #options: RequestLoggerOptions;
  readonly #buckets = new Map<string, TokenBucket>();
  readonly #incompleteAnswerBuckets = new Map<string, TokenBucket>();
  readonly #droppedLines = new Map<string, number>();
  #summaryTimer: NodeJS.Timeout | undefined;

  constructor(options: RequestLoggerOptions) {
    this.#options = options;
    const { logger } = options;
    if (logger.isLevelEnabled('debug')) {
      this.logSuccess = (request, { status }) =>
        logger.debug(this.#createLogFields(request, status), 'request answered');
    }
  }

  /** Logs a response with a status of 400 or above, unless a request handler threw an exception, which `logError` logs. */
  readonly logErrorReply = (request: LoggedRequest, { status, error }: Reply): void => {
    const code = error?.code;
    if (code === 'INTERNAL_ERROR') return;
    const level = refusalLevel(code, status);
    // Lines are limited per problem, per error code if no problem is known, or per HTTP status if the reply has no error code.
    if (this.#isLogLineAllowed(level, error?.problem?.text ?? code ?? `status ${status}`)) {
      const reason = code === undefined ? `status ${status}` : errorTable[code].phrase;
      const fields = { ...this.#createLogFields(request, status, error), ...describeProblem(error?.problem) };
      this.#options.logger[level](fields, `request rejected: ${reason}`);
    }
  };

  /** Logs why an answer is incomplete although its status is 200. Logs the same problem at most once a minute. */
  readonly logIncompleteAnswer = (request: LoggedRequest, problem: ServiceProblem): void => {
    const nowMs = this.#options.clock.monotonicMs();
    const createBucket = () => new TokenBucket(1000 / bounds.incompleteAnswerLogIntervalMs, 1, nowMs);
    if (!getOrAdd(this.#incompleteAnswerBuckets, problem.text, createBucket).tryTakeLogToken(nowMs)) return;
    this.#options.logger.warn(
      { ...this.#createLogFields(request, 200), ...describeProblem(problem) },
      'answer incomplete',
    );
  };

  /** Logs an exception of a request handler. The client receives status 500 unless the service has already responded. */
  readonly logError = (error: unknown, request: LoggedRequest): void => {
    if (!this.#isLogLineAllowed('error', 'INTERNAL_ERROR')) return;
    const line = this.#createLogFields(request, 500, { code: 'INTERNAL_ERROR' });
    this.#options.logger.error({ ...line, err: describeError(error) }, 'request failed');
  };

  /** Logs the number of lines dropped since the last summary, and stops the timer of the next summary. */
  close(): void {
    clearTimeout(this.#summaryTimer);
    this.#warnAboutDroppedLines();
  }

  #isLogLineAllowed(level: Level, kind: string): boolean {
    const { logger, clock } = this.#options;
    if (!logger.isLevelEnabled(level)) return false;
    if (this.logSuccess !== undefined) return true;
    const nowMs = clock.monotonicMs();
    const { refusalLogLinesPerSecond, refusalLogLinesBurst } = bounds;
    const createBucket = () => new TokenBucket(refusalLogLinesPerSecond, refusalLogLinesBurst, nowMs);
    if (getOrAdd(this.#buckets, kind, createBucket).tryTakeLogToken(nowMs)) return true;
    this.#droppedLines.set(kind, (this.#droppedLines.get(kind) ?? 0) + 1);
    this.#summaryTimer ??= setTimeout(() => this.#summarizeDroppedLines(), bounds.refusalLogSummaryIntervalMs);
    return false;
  }

  #createLogFields(
    { requestId, method, routeIndex, caller, elapsedMs }: LoggedRequest,
    status: number,
    error?: ApiError,
  ) {
    const { routeNames, callerNames } = this.#options;
    const names = caller && callerNames(caller);
    return {
      requestId,
      route: routeNames[routeIndex],
      method: knownMethods.has(method) ? method : 'other',
      status,
      code: error?.code,
      param: error?.param,
      keyId: names?.key,
      account: names?.account,
      durationMs: Math.round(elapsedMs),
    };
  }

  /** Logs the number of lines dropped since the last summary, and schedules further summaries until no more lines are dropped. */
  #summarizeDroppedLines(): void {
    if (this.#droppedLines.size === 0) {
      this.#summaryTimer = undefined;
      this.#options.logger.info('log lines no longer dropped');
      return;
    }
    this.#warnAboutDroppedLines();
    this.#summaryTimer = setTimeout(() => this.#summarizeDroppedLines(), bounds.refusalLogSummaryIntervalMs);
  }

  #warnAboutDroppedLines(): void {
    if (this.#droppedLines.size === 0) return;
    const dropped = Object.fromEntries(this.#droppedLines);
    this.#droppedLines.clear();
    this.#options.logger.warn({ dropped }, 'log lines dropped: too many rejected requests');
  }
}

function describeProblem(problem: ServiceProblem | undefined) {
  if (problem === undefined) return {};
  const { text, cause } = problem;
  return { problem: text, ...(cause !== undefined && { err: describeError(cause) }) };
}

/** Returns the log level of an error. Error responses of HTML pages, of health checks and to prefetch requests have no error code. */
function refusalLevel(code: ErrorCode | undefined, status: number): Level {
  if (code === undefined) return status < 500 ? 'info' : 'debug';
  return levelsByCode[code] ?? 'info';
}
