import type { Level, Logger } from 'pino';
import { bounds } from '../bounds.ts';
import type { Clock } from '../domain/clock.ts';
import { type ErrorCode, errorTable } from '../domain/error-table.ts';
import type { Refusal } from '../domain/outcome.ts';
import type { AskedBy, Reply, RequestInTrouble } from '../http/listener.ts';
import { describeFault } from './describe-fault.ts';
import { LineBudget } from './line-budget.ts';

export interface RequestLogOptions {
  readonly logger: Logger;
  readonly clock: Clock;
  /** Names of the routes, by their numbers (`Exchange.route`): a path as sent may hold anything. */
  readonly routeNames: readonly string[];
  /** Returns the names of a caller's key and account as `marketplace keys list` shows them. */
  readonly namesOf: (caller: AskedBy) => { readonly key?: string | undefined; readonly account?: string | undefined };
}

/** Methods that a log names; anything else may be somebody's own word. */
const knownMethods = new Set(['GET', 'HEAD', 'POST', 'OPTIONS', 'PUT', 'PATCH', 'DELETE', 'TRACE', 'CONNECT']);

/** Levels of the errors that are the service's rather than the caller's; all others are `info`. */
const levels: Partial<Record<ErrorCode, Level>> = { INTERNAL_ERROR: 'error', SERVICE_UNAVAILABLE: 'warn' };

/**
 * Logs requests: one line for each that is refused or fails, and at `debug` one for each of the others, too. A line holds the
 * request's id, route, method and outcome, and the names of the caller's key and account, but nothing that was submitted.
 *
 * Each kind of error has a budget of lines, so that a flood of refusals does not become a flood of lines. Lines beyond it are
 * counted, and a line a second tells the counts. At `debug` there are no budgets.
 */
export class RequestLog {
  /** Logs a request that was answered with a status below 400. Undefined where the level leaves such lines out. */
  readonly answered: ((request: RequestInTrouble, reply: Reply) => void) | undefined;
  readonly #options: RequestLogOptions;
  readonly #budgets = new Map<string, LineBudget>();
  readonly #leftOut = new Map<string, number>();
  #summary: NodeJS.Timeout | undefined;

  constructor(options: RequestLogOptions) {
    this.#options = options;
    const { logger } = options;
    if (logger.isLevelEnabled('debug')) {
      this.answered = (request, { status }) => logger.debug(this.#line(request, status), 'request answered');
    }
  }

  /** Logs a request that was answered with a status of 400 or more. One that threw is logged by `fault` instead. */
  readonly refused = (request: RequestInTrouble, { status, refusal }: Reply): void => {
    const code = refusal?.code;
    if (code === 'INTERNAL_ERROR') return;
    const level = levelOf(code, status);
    // A kind is a code, or for a page without one its status: few of either.
    if (this.#hasPlace(level, code ?? `status ${status}`)) {
      const reason = code === undefined ? `status ${status}` : errorTable[code].phrase;
      this.#options.logger[level](this.#line(request, status, refusal), `request refused: ${reason}`);
    }
  };

  /** Logs an exception that was thrown while a request was being answered, which gets 500 unless it was over already. */
  readonly fault = (fault: unknown, request: RequestInTrouble): void => {
    if (!this.#hasPlace('error', 'INTERNAL_ERROR')) return;
    const line = this.#line(request, 500, { code: 'INTERNAL_ERROR' });
    this.#options.logger.error({ ...line, fault: describeFault(fault) }, 'request failed');
  };

  /** Logs how many lines were left out since the last summary. */
  close(): void {
    clearTimeout(this.#summary);
    this.#logLeftOut();
  }

  #hasPlace(level: Level, kind: string): boolean {
    const { logger, clock } = this.#options;
    if (!logger.isLevelEnabled(level)) return false;
    if (this.answered !== undefined) return true;
    const nowMs = clock.monotonicMs();
    let budget = this.#budgets.get(kind);
    if (budget === undefined) {
      budget = new LineBudget(bounds.refusalLinesPerSecond, bounds.refusalLinesAtOnce, nowMs);
      this.#budgets.set(kind, budget);
    }
    if (budget.take(nowMs)) return true;
    this.#leftOut.set(kind, (this.#leftOut.get(kind) ?? 0) + 1);
    this.#summary ??= setTimeout(() => this.#summarize(), bounds.refusalSummaryMs);
    return false;
  }

  #line({ requestId, method, route, askedBy, elapsedMs }: RequestInTrouble, status: number, refusal?: Refusal) {
    const { routeNames, namesOf } = this.#options;
    return {
      requestId,
      route: routeNames[route],
      method: knownMethods.has(method) ? method : 'other',
      status,
      code: refusal?.code,
      param: refusal?.param,
      ...(askedBy !== null && namesOf(askedBy)),
      ms: Math.round(elapsedMs),
    };
  }

  /** Goes on every second until a second passes in which no line was left out. */
  #summarize(): void {
    if (this.#leftOut.size === 0) {
      this.#summary = undefined;
      this.#options.logger.info('log lines complete again: refused requests are within the limits');
      return;
    }
    this.#logLeftOut();
    this.#summary = setTimeout(() => this.#summarize(), bounds.refusalSummaryMs);
  }

  #logLeftOut(): void {
    if (this.#leftOut.size === 0) return;
    const leftOut = Object.fromEntries(this.#leftOut);
    this.#leftOut.clear();
    this.#options.logger.warn({ leftOut }, 'log lines left out: too many refused requests');
  }
}

/** A status without a code is a page for people, or an answer to a probe or to a browser that fetches ahead. */
function levelOf(code: ErrorCode | undefined, status: number): Level {
  if (code === undefined) return status < 500 ? 'info' : 'debug';
  return levels[code] ?? 'info';
}
