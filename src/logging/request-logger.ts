import type { Level, Logger } from 'pino';
import { bounds } from '../bounds.ts';
import type { Clock } from '../domain/clock.ts';
import { type ErrorCode, errorTable } from '../domain/errors.ts';
import type { Refusal } from '../domain/outcome.ts';
import type { CallerIds, LoggedRequest, Reply } from '../http/engines/listener.ts';
import { describeError } from './describe-error.ts';

/** How many lines of one kind a log may take: a bucket that holds `burst` and is filled at `formatRate`. */
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

  /** Takes a line's place; false where none is left. `nowMs` is monotonic. */
  take(nowMs: number): boolean {
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
  /** Names of the routes, by their numbers (`Exchange.route`): a path as sent may hold anything. */
  readonly routeNames: readonly string[];
  /** Returns the names of a caller's key and account as `marketplace keys list` shows them. */
  readonly callerNames: (caller: CallerIds) => {
    readonly key?: string | undefined;
    readonly account?: string | undefined;
  };
}

/** Methods that a log names; anything else may be somebody's own word. */
const knownMethods = new Set(['GET', 'HEAD', 'POST', 'OPTIONS', 'PUT', 'PATCH', 'DELETE', 'TRACE', 'CONNECT']);

/** Levels of the errors that are the service's rather than the caller's; all others are `info`. */
const levelsByCode: Partial<Record<ErrorCode, Level>> = { INTERNAL_ERROR: 'error', SERVICE_UNAVAILABLE: 'warn' };

/**
 * Logs requests: one line for each that is refused or fails, and at `debug` one for each of the others, too. A line holds the
 * request's id, route, method and outcome, and the names of the caller's key and account, but nothing that was submitted.
 *
 * Each kind of error has a budget of lines, so that a flood of refusals does not become a flood of lines. Lines beyond it are
 * counted, and a line a second tells the counts. At `debug` there are no budgets.
 */
export class RequestLogger {
  /** Logs a request that was answered with a status below 400. Undefined where the level leaves such lines out. */
  readonly logSuccess: ((request: LoggedRequest, reply: Reply) => void) | undefined;
  readonly #options: RequestLoggerOptions;
  readonly #buckets = new Map<string, TokenBucket>();
  readonly #droppedLines = new Map<string, number>();
  #summaryTimer: NodeJS.Timeout | undefined;

  constructor(options: RequestLoggerOptions) {
    this.#options = options;
    const { logger } = options;
    if (logger.isLevelEnabled('debug')) {
      this.logSuccess = (request, { status }) => logger.debug(this.#fields(request, status), 'request answered');
    }
  }

  /** Logs a request that was answered with a status of 400 or more. One that threw is logged by `fault` instead. */
  readonly logRefusal = (request: LoggedRequest, { status, refusal }: Reply): void => {
    const code = refusal?.code;
    if (code === 'INTERNAL_ERROR') return;
    const level = refusalLevel(code, status);
    // A kind is a code, or for a page without one its status: few of either.
    if (this.#mayLog(level, code ?? `status ${status}`)) {
      const reason = code === undefined ? `status ${status}` : errorTable[code].phrase;
      this.#options.logger[level](this.#fields(request, status, refusal), `request refused: ${reason}`);
    }
  };

  /** Logs an exception that was thrown while a request was being answered, which gets 500 unless it was over already. */
  readonly logError = (fault: unknown, request: LoggedRequest): void => {
    if (!this.#mayLog('error', 'INTERNAL_ERROR')) return;
    const line = this.#fields(request, 500, { code: 'INTERNAL_ERROR' });
    this.#options.logger.error({ ...line, fault: describeError(fault) }, 'request failed');
  };

  /** Logs how many lines were left out since the last summary. */
  close(): void {
    clearTimeout(this.#summaryTimer);
    this.#logDroppedLines();
  }

  #mayLog(level: Level, kind: string): boolean {
    const { logger, clock } = this.#options;
    if (!logger.isLevelEnabled(level)) return false;
    if (this.logSuccess !== undefined) return true;
    const nowMs = clock.monotonicMs();
    let budget = this.#buckets.get(kind);
    if (budget === undefined) {
      budget = new TokenBucket(bounds.refusalLogLinesPerSecond, bounds.refusalLogLinesBurst, nowMs);
      this.#buckets.set(kind, budget);
    }
    if (budget.take(nowMs)) return true;
    this.#droppedLines.set(kind, (this.#droppedLines.get(kind) ?? 0) + 1);
    this.#summaryTimer ??= setTimeout(() => this.#logSummary(), bounds.refusalLogSummaryIntervalMs);
    return false;
  }

  #fields({ requestId, method, routeIndex, caller, elapsedMs }: LoggedRequest, status: number, refusal?: Refusal) {
    const { routeNames, callerNames } = this.#options;
    return {
      requestId,
      route: routeNames[routeIndex],
      method: knownMethods.has(method) ? method : 'other',
      status,
      code: refusal?.code,
      param: refusal?.param,
      ...(caller !== null && callerNames(caller)),
      ms: Math.round(elapsedMs),
    };
  }

  /** Goes on every second until a second passes in which no line was left out. */
  #logSummary(): void {
    if (this.#droppedLines.size === 0) {
      this.#summaryTimer = undefined;
      this.#options.logger.info('log lines complete again: refused requests are within the limits');
      return;
    }
    this.#logDroppedLines();
    this.#summaryTimer = setTimeout(() => this.#logSummary(), bounds.refusalLogSummaryIntervalMs);
  }

  #logDroppedLines(): void {
    if (this.#droppedLines.size === 0) return;
    const leftOut = Object.fromEntries(this.#droppedLines);
    this.#droppedLines.clear();
    this.#options.logger.warn({ leftOut }, 'log lines left out: too many refused requests');
  }
}

/** A status without a code is a page for people, or an answer to a probe or to a browser that fetches ahead. */
function refusalLevel(code: ErrorCode | undefined, status: number): Level {
  if (code === undefined) return status < 500 ? 'info' : 'debug';
  return levelsByCode[code] ?? 'info';
}
