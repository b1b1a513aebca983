import assert from 'node:assert/strict';
import { Agent, type IncomingMessage, type RequestOptions, request } from 'node:http';
import { checkAgainstDocuments } from './document-checks.ts';
import { unpacked } from './unpacked.ts';

export interface Asked {
  readonly method?: string;
  /** Path and query, sent as they are. */
  readonly path: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string | Buffer;
}

export interface Answer {
  readonly status: number;
  /** Lower-case names. */
  readonly headers: ReadonlyMap<string, string>;
  /** The body, unpacked where it was sent compressed. */
  readonly text: string;
}

export interface Received extends Answer {
  /** The body as it was sent. */
  readonly bytes: Buffer;
}

/** Stands in everything a test submits where it looks for an echo: no error may repeat it (docs/contract.md#error-body). */
export const marker = 'zq7echo';

/**
 * Sends one request after another to one listener. What holds for every answer, whatever a test is about, is checked here:
 * it has no header twice, is like any answer of ours (`assertOurs`), and is what the OpenAPI document says. Whatever has to be
 * sent otherwise goes through a `ServiceConnection`, which checks the same.
 */
export class HttpClient {
  readonly port: number;
  readonly #agent = new Agent({ keepAlive: true, maxSockets: 16 });
  readonly #isPublic: boolean;

  /** @param isPublic whether the listener has the API, which is documented */
  constructor(port: number, isPublic = true) {
    this.port = port;
    this.#isPublic = isPublic;
  }

  async send(asked: Asked): Promise<Received> {
    const { method = 'GET', path, headers = {}, body } = asked;
    const options: RequestOptions = { host: '127.0.0.1', port: this.port, agent: this.#agent, method, path, headers };
    const answer = await new Promise<Received>((resolve, reject) => {
      const sent = request(options, (message) => readAnswer(message).then(resolve, reject));
      sent.on('error', reject);
      sent.end(body);
    });
    assertOurs(answer);
    if (this.#isPublic) checkAgainstDocuments(asked, answer);
    return answer;
  }

  close(): void {
    this.#agent.destroy();
  }
}

async function readAnswer(message: IncomingMessage): Promise<Received> {
  const chunks: Buffer[] = [];
  for await (const chunk of message) chunks.push(chunk as Buffer);
  const headers = new Map<string, string>();
  for (const [name, values] of Object.entries(message.headersDistinct)) {
    assert.equal(values?.length, 1, `the header ${name} comes more than once`);
    headers.set(name, values?.[0] as string);
  }
  const bytes = Buffer.concat(chunks);
  return { status: message.statusCode as number, headers, bytes, text: unpacked(bytes, headers) };
}

/** What every answer has that we write: an id, `nosniff`, no word of who serves, and in errors nothing that bears the marker. */
export function assertOurs({ status, headers, text }: Answer): void {
  assert.match(headers.get('x-request-id') ?? '', /^[\w-]{8,64}$/);
  assert.equal(headers.get('x-content-type-options'), 'nosniff');
  assert.equal(headers.has('server'), false);
  if (status < 400) return;
  const all = [...headers.entries()].flat().join('\n') + text;
  assert.ok(!all.toLowerCase().includes(marker), `an error repeats what was submitted: ${all}`);
}
