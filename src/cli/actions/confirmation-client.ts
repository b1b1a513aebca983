import { setTimeout as pause } from 'node:timers/promises';
import { Type } from 'typebox';
import { Compile } from 'typebox/compile';
import { bounds } from '../../bounds.ts';
import { CommandLineError } from '../command-line-error.ts';

/** What became of one row: `rejected` comes with its reason; `unknown` is left when asking again did not help. */
export interface RowOutcome {
  readonly outcome: 'accepted' | 'repeated' | 'rejected' | 'unknown';
  readonly reason?: string;
}

interface ConfirmationClientOptions {
  /** The first pause before a batch is sent again. */
  readonly retryMs?: number;
  /** Gives up. */
  readonly signal?: AbortSignal;
}

const responseValidator = Compile(
  Type.Object({
    results: Type.Array(
      Type.Object({
        index: Type.Integer({ minimum: 0 }),
        outcome: Type.Union(
          (['accepted', 'repeated', 'rejected', 'unknown'] as const).map((outcome) => Type.Literal(outcome)),
        ),
        reason: Type.Optional(Type.String()),
      }),
    ),
  }),
);

/** What fetch says of a port on the list of the Fetch standard, whatever listens there. */
const blockedPortMessage = 'bad port';

/** What fetch makes of status 421: it sends the request again by itself, and finds that the body is gone. */
const resentBodyCode = 'UND_ERR_REQ_CONTENT_LENGTH_MISMATCH';

/**
 * Sends batches of rows to a running server. Rows whose outcome is unknown, and batches that got no answer, are sent again
 * a few times with growing pauses: a row that was taken before is only told so. A server that does not answer the very
 * first batch is taken for absent.
 */
export class ConfirmationClient {
  readonly #url: string;
  readonly #token: string;
  readonly #retryMs: number;
  readonly #signal: AbortSignal;
  #hasResponded = false;

  /** @param url of the operations listener, without a trailing slash. */
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
   * The outcomes in the order of the items. Throws `CommandLineError` when the server cannot be reached or refuses us, and the
   * signal's reason once that says stop.
   */
  async send(items: readonly object[]): Promise<readonly RowOutcome[]> {
    const outcomes: RowOutcome[] = items.map(() => ({ outcome: 'unknown' }));
    let open = items.map((_, index) => index);
    for (let attempt = 1; ; attempt++) {
      const results = await this.#post(open.map((index) => items[index]!));
      for (const [at, result] of (results ?? []).entries()) outcomes[open[at]!] = result;
      open = open.filter((index) => outcomes[index]?.outcome === 'unknown');
      const isLast = attempt === bounds.confirmAttemptsMax;
      if (isLast && results === null) throw new CommandLineError(`${this.#url} takes no rows at the moment`);
      if (isLast || open.length === 0) return outcomes;
      await pause(this.#retryMs * 2 ** (attempt - 1), undefined, { signal: this.#signal }).catch(() =>
        this.#signal.throwIfAborted(),
      );
    }
  }

  /** Null when asking again may help. */
  async #post(items: readonly object[]): Promise<readonly RowOutcome[] | null> {
    let response: Response;
    let text: string;
    try {
      response = await fetch(this.#url, {
        method: 'POST',
        headers: { Authorization: `Bearer ${this.#token}`, 'Content-Type': 'application/json' },
        body: JSON.stringify(items),
        redirect: 'error',
        signal: AbortSignal.any([AbortSignal.timeout(bounds.confirmRequestTimeoutMs), this.#signal]),
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
          `${this.#url} cannot be asked: port ${port} is one of those that web clients keep away from, since other services have them; let SVC_OPS_PORT be another`,
          { cause },
        );
      }
      throw new CommandLineError(`no server answers at ${this.#url} (see --url): ${reason}`, { cause });
    }
    this.#hasResponded = true;
    if (response.status === 503) return null;
    if (response.status === 401) {
      throw new CommandLineError(`the server at ${this.#url} does not take this operator token (see --token-file)`);
    }
    if (response.status === 421) throw this.#unknownHostError();
    const answer = response.status === 200 ? parseJsonOrNull(text) : null;
    if (!responseValidator.Check(answer) || answer.results.length !== items.length) {
      throw new CommandLineError(`${this.#url} answers ${response.status} and nothing this command knows (see --url)`);
    }
    return answer.results;
  }

  #unknownHostError(): CommandLineError {
    const { hostname } = new URL(this.#url);
    return new CommandLineError(
      `the server at ${this.#url} does not answer under the name ${hostname}: add it to SVC_OPS_ALLOWED_HOSTS of the server, or use an IP address or localhost (see --url)`,
    );
  }
}

function parseJsonOrNull(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}

/** fetch hides what the system said one level deeper. */
function networkErrorReason(fault: unknown): string {
  const { cause, message } = fault as Error & { readonly cause?: NodeJS.ErrnoException };
  return cause?.code ?? cause?.message ?? message;
}
