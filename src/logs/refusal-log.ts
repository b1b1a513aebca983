import type { Level, Logger } from 'pino';
import { bounds } from '../bounds.ts';
import type { Clock } from '../domain/clock.ts';
import type { ErrorCode } from '../domain/error-table.ts';
import type { Refusal } from '../domain/outcome.ts';
import type { Reply, RequestInTrouble } from '../http/listener.ts';
import { describeFault } from './describe-fault.ts';
import { LineBudget } from './line-budget.ts';

export interface RefusalLogOptions {
  readonly logger: Logger;
  readonly clock: Clock;
  /** What routes are called, by their numbers (`Exchange.route`): a path as sent may hold anything. */
  readonly routeNames: readonly string[];
}

/** Methods that a log names; anything else may be somebody's own word. */
const knownMethods = new Set(['GET', 'HEAD', 'POST', 'OPTIONS', 'PUT', 'PATCH', 'DELETE', 'TRACE', 'CONNECT']);

/** The errors that are ours rather than the caller's, with how loud they are; all others are `info`. */
const levels: Partial<Record<ErrorCode, Level>> = { INTERNAL_ERROR: 'error', SERVICE_UNAVAILABLE: 'warn' };

/**
 * One line for each request that was refused or failed, and none for any other. A line names the request by its id, its route, method
 * and error, and whoever asked by the numbers of key and account; of what was sent there is nothing in it.
 *
 * Each kind of error has a budget of lines, so that a flood of refusals is no flood of lines: beyond it they are counted, and a line
 * a second says how many were left out.
 */
export class RefusalLog {
  readonly #options: RefusalLogOptions;
  readonly #budgets = new Map<string, LineBudget>();
  readonly #leftOut = new Map<string, number>();
  #summary: NodeJS.Timeout | undefined;

  constructor(options: RefusalLogOptions) {
    this.#options = options;
  }

  /** A request was answered with a status of 400 or more. What threw is told by `fault`. */
  readonly refused = (request: RequestInTrouble, { status, refusal }: Reply): void => {
    const code = refusal?.code;
    if (code === 'INTERNAL_ERROR') return;
    const level = levelOf(code, status);
    // A kind is a code, or for a page without one its status: few of either.
    if (this.#hasPlace(level, code ?? `status ${status}`)) {
      this.#options.logger[level](this.#line(request, status, refusal), 'refused');
    }
  };

  /** Something threw while a request was being answered, which gets 500 unless it was over already. */
  readonly fault = (fault: unknown, request: RequestInTrouble): void => {
    if (!this.#hasPlace('error', 'INTERNAL_ERROR')) return;
    const line = this.#line(request, 500, { code: 'INTERNAL_ERROR' });
    this.#options.logger.error({ ...line, fault: describeFault(fault) }, 'a request failed');
  };

  /** Tells what was left out since the last time. */
  close(): void {
    clearTimeout(this.#summary);
    this.#tellLeftOut();
  }

  #hasPlace(level: Level, kind: string): boolean {
    const { logger, clock } = this.#options;
    if (!logger.isLevelEnabled(level)) return false;
    const nowMs = clock.monotonicMs();
    let budget = this.#budgets.get(kind);
    if (budget === undefined) {
      budget = new LineBudget(bounds.refusalLinesPerSecond, bounds.refusalLinesAtOnce, nowMs);
      this.#budgets.set(kind, budget);
    }
    if (budget.take(nowMs)) return true;
    this.#leftOut.set(kind, (this.#leftOut.get(kind) ?? 0) + 1);
    this.#summary ??= setTimeout(() => this.#tellLeftOut(), bounds.refusalSummaryMs);
    return false;
  }

  #line({ requestId, method, route, askedBy, elapsedMs }: RequestInTrouble, status: number, refusal?: Refusal) {
    return {
      requestId,
      route: this.#options.routeNames[route],
      method: knownMethods.has(method) ? method : 'other',
      status,
      code: refusal?.code,
      param: refusal?.param,
      key: askedBy?.keyNumber,
      account: askedBy?.account,
      ms: Math.round(elapsedMs),
    };
  }

  #tellLeftOut(): void {
    this.#summary = undefined;
    if (this.#leftOut.size === 0) return;
    const leftOut = Object.fromEntries(this.#leftOut);
    this.#leftOut.clear();
    this.#options.logger.warn({ leftOut }, 'refusals left out of the log');
  }
}

/** A status without a code is a page for people, or an answer to a probe or to a browser that fetches ahead. */
function levelOf(code: ErrorCode | undefined, status: number): Level {
  if (code === undefined) return status < 500 ? 'info' : 'debug';
  return levels[code] ?? 'info';
}
