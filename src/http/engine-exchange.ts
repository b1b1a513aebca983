import { bounds } from '../bounds.ts';
import { invalidRequest, type Refusal } from '../domain/outcome.ts';
import type { RequestParam } from '../domain/request-rules.ts';
import type { Deadlined, DeadlineQueue } from './deadline-queue.ts';
import type { InFlight } from './in-flight.ts';
import type { AskedBy, Exchange, ListenerOptions, Reply, RequestInTrouble } from './listener.ts';
import { nextRequestId } from './request-id.ts';
import type { UnsentAnswer, UnsentAnswers } from './unsent-answers.ts';

export const headerTooLate = 'a request header can only be read before the handler returns or first awaits';

/** What an exchange needs of the listener it came in through. */
export interface ExchangeListener {
  readonly options: ListenerOptions;
  readonly requests: InFlight;
  readonly deadlines: DeadlineQueue;
  readonly unsent: UnsentAnswers;
}

/**
 * One request, as far as it is the same on every engine: who is told what, once, about the body, the deadline and the end.
 *
 *     handling ──reply──> over ─────────────────────────> released
 *        │                  ├─(body refused)─> lingering ─┤
 *        │                  └─(client does not read)─> unsent
 *        └─return─> pending ──reply, deadline──> over ...
 *     an abort leads from everywhere to: over, released
 *
 * An engine starts it with `handle`, puts it among the listener's deadlines while it is pending or lingering, and ends it
 * with `release`. An exchange lingers when it is answered and its unwanted body is still going by. It is unsent when it is answered
 * and its client has not read enough for all of the answer to be handed to the system.
 */
export abstract class EngineExchange<L extends ExchangeListener>
  implements Exchange, Deadlined, RequestInTrouble, UnsentAnswer
{
  readonly method: string;
  readonly path: string;
  readonly query: string;
  readonly requestId = nextRequestId();
  over = false;
  refusalHeaders = '';
  route = 0;
  askedBy: AskedBy | null = null;
  dueMs = 0;
  earlier: Deadlined | null = null;
  later: Deadlined | null = null;
  protected readonly listener: L;
  /** When its head was here; monotonic milliseconds. */
  protected readonly arrivedMs = performance.now();
  /** The declared size of the body exceeds the bound. */
  protected bodyTooLarge = false;
  /** An answer given now ends the connection, because the rest of the body is of unknown size or too large. */
  protected bodyUnwanted = false;
  private bodyAsked = false;
  /** While the body is awaited: whom to tell that it will not come. */
  private onNoBody: (() => void) | undefined;
  private counted = false;

  constructor(listener: L, method: string, path: string, query: string) {
    this.listener = listener;
    this.method = method;
    this.path = path;
    this.query = query;
  }

  abstract header(lowerCaseName: string): string;

  /** The handler has not returned yet. */
  protected abstract readonly handling: boolean;

  /** The header or other part that a proxy before us may have read otherwise, if any: no handler sees such a request. */
  protected abstract malformed(): RequestParam | undefined;

  /** Hands the body to `deliver` when all of it is here, unless the exchange is over by then. */
  protected abstract gather(onBody: (body: Buffer) => void | Promise<void>): void;

  /** Calls `settle` and sends the answer. Throws, with nothing settled or sent, when the answer is not fit to be sent. */
  protected abstract answer(reply: Reply): void;

  /** Closes the connection of an exchange that is answered. */
  abstract disconnect(): void;

  readBody(onBody: (body: Buffer) => void | Promise<void>, onNoBody?: () => void): void {
    if (!this.handling || this.bodyAsked) throw new Error('readBody is for once, before the handler returns');
    this.bodyAsked = true;
    if (this.over) {
      onNoBody?.();
      return;
    }
    this.onNoBody = onNoBody;
    if (this.bodyTooLarge) this.refuseLargeBody();
    else this.gather(onBody);
  }

  reply(reply: Reply): void {
    if (this.over) return;
    try {
      this.send(reply);
    } catch (fault) {
      this.fail(fault);
    }
  }

  get elapsedMs(): number {
    return performance.now() - this.arrivedMs;
  }

  onDeadline(): void {
    if (this.over) {
      this.disconnect();
      return;
    }
    this.listener.options.onDeadline?.();
    this.refuse({ code: 'SERVICE_UNAVAILABLE', retryAfterSeconds: bounds.retryAfterSeconds });
  }

  /** The answer has left, or the client has. */
  release(): void {
    this.settle();
    this.listener.deadlines.remove(this);
    this.uncount();
  }

  /** Runs the handler, or refuses what must not reach it. */
  protected handle(): void {
    const { options, requests } = this.listener;
    requests.begin();
    this.counted = true;
    const param = this.malformed();
    if (param !== undefined) {
      this.bodyUnwanted = true;
      this.refuse(invalidRequest(param).refusal);
      return;
    }
    try {
      options.handler(this)?.catch((fault: unknown) => this.fail(fault));
    } catch (fault) {
      this.fail(fault);
    }
  }

  /**
   * Whether the transfer coding of the request is one that every server reads alike: `chunked` alone, in one header, without a
   * length, without trailers, and with a method made for a body.
   */
  protected isPlainlyChunked(codings: number, lengths: number): boolean {
    return (
      codings === 1 &&
      lengths === 0 &&
      this.header('transfer-encoding').toLowerCase() === 'chunked' &&
      this.header('trailer') === '' &&
      this.method !== 'GET' &&
      this.method !== 'HEAD'
    );
  }

  protected deliver(onBody: (body: Buffer) => void | Promise<void>, body: Buffer): void {
    this.onNoBody = undefined;
    try {
      onBody(body)?.catch((fault: unknown) => this.fail(fault));
    } catch (fault) {
      this.fail(fault);
    }
  }

  /** The exchange is over: a body still awaited will not come. */
  protected settle(): void {
    const { onNoBody } = this;
    this.over = true;
    this.onNoBody = undefined;
    try {
      onNoBody?.();
    } catch (fault) {
      this.listener.options.onFault(fault, this);
    }
  }

  /** It is answered as far as a drain is concerned, which does not wait for those that linger. */
  protected uncount(): void {
    if (this.counted) this.listener.requests.end();
    this.counted = false;
  }

  private fail(fault: unknown): void {
    this.listener.options.onFault(fault, this);
    if (!this.over) this.refuse({ code: 'INTERNAL_ERROR' });
  }

  /** Answers 413. Does nothing if the exchange is over. */
  protected refuseLargeBody(): void {
    if (!this.over) this.refuse({ code: 'PAYLOAD_TOO_LARGE' });
  }

  protected refuse(refusal: Refusal): void {
    this.send(this.listener.options.errorReply(refusal, this.requestId, this.refusalHeaders));
  }

  private send(reply: Reply): void {
    this.answer(reply);
    // In whole microseconds, which unlike fractions need no object of their own.
    this.listener.options.onAnswered?.(this.route, reply.status, ((performance.now() - this.arrivedMs) * 1000) | 0);
    if (reply.status >= 400) this.listener.options.onRefusal?.(this, reply);
    else this.listener.options.onSuccess?.(this, reply);
  }
}
