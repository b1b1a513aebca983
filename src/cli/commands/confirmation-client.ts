import { setTimeout as pause } from 'node:timers/promises';
import { type Static, Type } from 'typebox';
import { Compile } from 'typebox/compile';
import { bounds } from '../../bounds.ts';
import { CommandLineError } from '../command.ts';

interface ConfirmationClientOptions {
  /** Delay before the first retry, in milliseconds; each retry doubles the delay before the next retry. */
  readonly retryMs?: number;
  /** Signal that cancels requests in progress and further retries. */
  readonly signal?: AbortSignal;
}

const payoutSchema = Type.Object({ state: Type.String(), amount: Type.Number() });
const resultSchema = Type.Object({
  index: Type.Integer({ minimum: 0 }),
  outcome: Type.Enum(['accepted', 'repeated', 'rejected', 'unknown']),
  reason: Type.Optional(Type.String()),
  payout: Type.Optional(payoutSchema),
});
const responseValidator = Compile(Type.Object({ results: Type.Array(resultSchema) }));

/** State and amount in USD of the payout that a row names (docs/contract.md#confirmation-answers). */
export type PayoutOfRow = Static<typeof payoutSchema>;
/** Outcome of one row. The outcome `unknown` means that all retries failed. Only a rejected row has a `reason`. */
export type ConfirmationRowOutcome = Omit<Static<typeof resultSchema>, 'index'>;

/** Message of the error that `fetch` throws for a port that the Fetch standard blocks. */
const blockedPortMessage = 'bad port';

/** Error code of `fetch` if the server responds with status 421 and `fetch` fails to send the request body a second time. */
const resentBodyCode = 'UND_ERR_REQ_CONTENT_LENGTH_MISMATCH';

/**
 * Sends batches of rows to a running server. Retries rows with the outcome `unknown`, and batches without a response, with exponential
 * backoff. Retries are safe, because the server answers `repeated` for a row that it has already booked. If no server responds to the first
 * batch, the batch is not retried, because the URL is probably wrong.
 */
export class ConfirmationClient {
  readonly #url: string;
  readonly #token: string;
  readonly #retryMs: number;
  readonly #signal: AbortSignal;
  #hasResponded = false;

  /** @param url base URL of the operations listener, without a trailing slash */
  constructor(
    url: string,
    token: string,
    { retryMs = bounds.confirmRetryDelayMs, signal = new AbortController().signal }: ConfirmationClientOptions = {},
  ) {
    this.#url = `${url}/confirmations`;
    this.#token = token;
    this.#retryMs = retryMs;
    this.#signal = signal;
  }

  /**
   * Sends the items and returns their outcomes in the same order. Throws `CommandLineError` if the server cannot be reached or rejects the
   * whole request. Throws the reason of the abort signal when the signal is aborted.
   */
  async sendRows(items: readonly object[]): Promise<readonly ConfirmationRowOutcome[]> {
    const outcomes: ConfirmationRowOutcome[] = items.map(() => ({ outcome: 'unknown' }));
    let pending = items.map((_, index) => index);
    for (let attempt = 1; ; attempt++) {
      const results = await this.#postBatch(pending.map((index) => items[index]!));
      for (const [index, result] of (results ?? []).entries()) outcomes[pending[index]!] = result;
      pending = pending.filter((index) => outcomes[index]?.outcome === 'unknown');
      const isLast = attempt === bounds.confirmAttemptsMax;
      if (isLast && results === null) throw new CommandLineError(`${this.#url} does not accept rows at the moment`);
      if (isLast || pending.length === 0) return outcomes;
      await pause(this.#retryMs * 2 ** (attempt - 1), undefined, { signal: this.#signal }).catch(() =>
        this.#signal.throwIfAborted(),
      );
    }
  }

  /** Sends one request. Returns the outcomes of the items, or null if the caller should retry the request. */
  async #postBatch(items: readonly object[]): Promise<readonly ConfirmationRowOutcome[] | null> {
    let response: Response;
    let text: string;
    try {
      response = await fetch(this.#url, {
        method: 'POST',
        headers: { Authorization: `Bearer ${this.#token}`, 'Content-Type': 'application/json' },
        body: JSON.stringify(items),
        redirect: 'error',
        signal: AbortSignal.any([AbortSignal.timeout(bounds.commandRequestTimeoutMs), this.#signal]),
      });
      text = await response.text();
    } catch (cause) {
      this.#signal.throwIfAborted();
      if (this.#hasResponded) return null;
      const reason = networkErrorReason(cause);
      if (reason === resentBodyCode) throw this.#unknownHostError();
      if (reason === blockedPortMessage) {
        const { port } = new URL(this.#url);
        throw new CommandLineError(
          `${this.#url} cannot be requested: web clients block port ${port}, which is reserved for another protocol; set SVC_OPS_PORT to another port`,
          { cause },
        );
      }
      throw new CommandLineError(`no server responds at ${this.#url} (see --url): ${reason}`, { cause });
    }
    this.#hasResponded = true;
    if (response.status === 503) return null;
    if (response.status === 401) {
      throw new CommandLineError(`the server at ${this.#url} rejects this operator token (see --token-file)`);
    }
    if (response.status === 421) throw this.#unknownHostError();
    const body = response.status === 200 ? parseJsonOrNull(text) : null;
    if (!responseValidator.Check(body) || body.results.length !== items.length) {
      throw new CommandLineError(`${this.#url} returned status ${response.status} with an unexpected body (see --url)`);
    }
    return body.results;
  }

  #unknownHostError(): CommandLineError {
    const { hostname } = new URL(this.#url);
    return new CommandLineError(
      `the server at ${this.#url} does not accept the host name ${hostname}: add it to SVC_OPS_ALLOWED_HOSTS of the server, or use an IP address or localhost (see --url)`,
    );
  }
}

export function parseJsonOrNull(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}

/** Returns the code or message of the system error that caused an error of `fetch`. */
export function networkErrorReason(error: unknown): string {
  const { cause, message } = error as Error & { readonly cause?: NodeJS.ErrnoException };
  return cause?.code ?? cause?.message ?? message;
}
