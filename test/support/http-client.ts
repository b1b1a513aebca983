import assert from 'node:assert/strict';
import { Agent, type IncomingMessage, type RequestOptions, request } from 'node:http';
import { brotliDecompressSync, gunzipSync } from 'node:zlib';
import { checkAgainstDocuments } from './document-check.ts';

export interface HttpRequest {
  readonly method?: string;
  /** Path and query, sent without changes. */
  readonly path: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string | Buffer;
}

export interface HttpResponse {
  readonly status: number;
  /** Response headers, with lower-case names. */
  readonly headers: ReadonlyMap<string, string>;
  /** Response body as text, decompressed if necessary. */
  readonly text: string;
}

export interface ReceivedResponse extends HttpResponse {
  /** Response body as received. */
  readonly bytes: Buffer;
}

/** Text in every input of a test for echoes: no error message may contain the text (docs/contract.md#error-body). */
export const echoMarker = 'zq7echo';

/**
 * Sends requests one after another to one listener. Checks every response: no header is repeated, the common headers are
 * correct (`assertServiceHeaders`), and the response conforms to the OpenAPI document. Requests that this client cannot send use a
 * `ServiceConnection`.
 */
export class HttpClient {
  readonly port: number;
  readonly #agent = new Agent({ keepAlive: true, maxSockets: 16 });
  readonly #isPublic: boolean;

  /** @param isPublic whether the listener serves the documented API */
  constructor(port: number, isPublic = true) {
    this.port = port;
    this.#isPublic = isPublic;
  }

  async send(asked: HttpRequest): Promise<ReceivedResponse> {
    const { method = 'GET', path, headers = {}, body } = asked;
    const options: RequestOptions = { host: '127.0.0.1', port: this.port, agent: this.#agent, method, path, headers };
    const answer = await new Promise<ReceivedResponse>((resolve, reject) => {
      const sent = request(options, (message) => readResponse(message).then(resolve, reject));
      sent.on('error', reject);
      sent.end(body);
    });
    assertServiceHeaders(answer);
    if (this.#isPublic) checkAgainstDocuments(asked, answer);
    return answer;
  }

  close(): void {
    this.#agent.destroy();
  }
}

async function readResponse(message: IncomingMessage): Promise<ReceivedResponse> {
  const chunks: Buffer[] = [];
  for await (const chunk of message) chunks.push(chunk as Buffer);
  const headers = new Map<string, string>();
  for (const [name, values] of Object.entries(message.headersDistinct)) {
    assert.equal(values?.length, 1, `the header ${name} comes more than once`);
    headers.set(name, values?.[0] as string);
  }
  const bytes = Buffer.concat(chunks);
  return { status: message.statusCode as number, headers, bytes, text: decompressedText(bytes, headers) };
}

/** Asserts the request id and `nosniff`, no name of the server software, and no error message with the marker. */
export function assertServiceHeaders({ status, headers, text }: HttpResponse): void {
  assert.match(headers.get('x-request-id') ?? '', /^[\w-]{8,64}$/);
  assert.equal(headers.get('x-content-type-options'), 'nosniff');
  assert.equal(headers.has('server'), false);
  if (status < 400) return;
  const all = [...headers.entries()].flat().join('\n') + text;
  assert.ok(!all.toLowerCase().includes(echoMarker), `an error repeats what was submitted: ${all}`);
}

/** Returns the text of a body, decompressed according to its Content-Encoding header. */
export function decompressedText(bytes: Buffer, headers: ReadonlyMap<string, string>): string {
  const encoding = headers.get('content-encoding');
  // A response to HEAD has the header but no body.
  if (encoding === undefined || bytes.length === 0) return bytes.toString();
  if (encoding === 'br') return brotliDecompressSync(bytes).toString();
  if (encoding === 'gzip') return gunzipSync(bytes).toString();
  return assert.fail(`a body is sent as ${encoding}`);
}
