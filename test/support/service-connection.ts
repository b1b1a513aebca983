import assert from 'node:assert/strict';
import { RawConnection, type RawResponse } from '../http/raw-connection.ts';
import { checkAgainstDocuments, checkErrorOfInvalidRequest } from './document-check.ts';
import { assertServiceHeaders, decompressedText, type HttpRequest } from './http-client.ts';

/** Statuses of responses that an engine generates for bytes that are not HTTP/1.1 (docs/contributing/native-http.md). */
const engineStatuses = [400, 431, 505];
const engineHeaders = ['connection', 'content-length', 'date'];

/**
 * Connection to the public listener of a service for requests that an HTTP client cannot send. Checks each response that the test reads as
 * `HttpClient` does, and against the OpenAPI document for the next sent request. If the next request is ambiguous (no valid request line,
 * or an earlier request with an ambiguous length), the response must be a documented error.
 *
 * Skips `100 Continue` and responses that the test does not read. Responses that an engine generates for invalid HTTP have
 * no JSON. Such a response must have one of `engineStatuses` and must be the last one on its connection.
 */
export class ServiceConnection extends RawConnection {
  readonly #sent = new SentRequestParser();

  override async response(bodyless = false): Promise<RawResponse> {
    const answer = await super.response(bodyless);
    if (answer.status === 100) return answer;
    const asked = this.#sent.nextRequest();
    if (!answer.headers.has('x-request-id')) await this.#assertEngineError(answer);
    else if (answer.status === 431) assertNoBody(answer);
    else {
      const ours = { ...answer, text: decompressedText(answer.body, answer.headers) };
      for (const [name, count] of answer.counts) assert.equal(count, 1, `the header ${name} comes more than once`);
      assertServiceHeaders(ours);
      if (asked === null) checkErrorOfInvalidRequest(ours);
      else checkAgainstDocuments(asked, ours);
    }
    return answer;
  }

  protected override write(bytes: string | Buffer, whenSent?: () => void): void {
    this.#sent.addBytes(bytes);
    super.write(bytes, whenSent);
  }

  async #assertEngineError(answer: RawResponse): Promise<void> {
    assert.ok(engineStatuses.includes(answer.status), `no engine answers ${answer.status} by itself`);
    const more = [...answer.headers.keys()].filter((name) => !engineHeaders.includes(name));
    assert.deepEqual(more, [], 'an answer without an id has headers of ours');
    await this.closed;
    // The engine may send an error page in addition.
    assert.match(answer.body.toString() + this.rest, /^(<h1>[^{}]*)?$/);
  }
}

/** Asserts that the response to a header section above the maximum size has only a status, without a body. */
function assertNoBody({ headers, body }: RawResponse): void {
  assert.deepEqual([headers.get('connection'), body.length], ['close', 0]);
}

/** Parses requests from the bytes that were sent on a connection, until a length is ambiguous. */
class SentRequestParser {
  #bytes = Buffer.alloc(0);
  #isClear = true;

  addBytes(bytes: string | Buffer): void {
    this.#bytes = Buffer.concat([this.#bytes, Buffer.from(bytes)]);
  }

  /**
   * Returns the next request and the sent part of its body, or all remaining bytes if the length is ambiguous. Returns null
   * for a request without a valid request line, and for every request after an ambiguous length.
   */
  nextRequest(): HttpRequest | null {
    if (!this.#isClear) return null;
    // RFC 9112, section 2.2, allows empty lines before a request.
    while (this.#bytes.toString('latin1', 0, 2) === '\r\n') this.#bytes = this.#bytes.subarray(2);
    const headEnd = this.#bytes.indexOf('\r\n\r\n');
    const [line = '', ...fields] = this.#bytes.toString('latin1', 0, headEnd < 0 ? undefined : headEnd).split('\r\n');
    const [, method, path] = /^(\S+) (\/[^ ]*) HTTP\/1\.[01]$/.exec(line) ?? [];
    const pairs = fields.map(
      (field) => /^([\w-]+):[ \t]*(.*?)[ \t]*$/.exec(field)?.slice(1) as [string, string] | undefined,
    );
    const framing = pairs.filter((pair) => /^(content-length|transfer-encoding)$/i.test(pair?.[0] ?? ''));
    const [[name = '', length = ''] = ['Content-Length', '0'], ...more] = framing;
    this.#isClear =
      headEnd >= 0 &&
      !pairs.includes(undefined) &&
      more.length === 0 &&
      name.toLowerCase() === 'content-length' &&
      /^\d{1,9}$/.test(length);
    if (method === undefined || path === undefined) {
      this.#isClear = false;
      return null;
    }
    const bodyEnd = this.#isClear ? headEnd + 4 + Number(length) : this.#bytes.length;
    const body = headEnd < 0 ? Buffer.alloc(0) : this.#bytes.subarray(headEnd + 4, bodyEnd);
    this.#bytes = this.#bytes.subarray(bodyEnd);
    const headers = Object.fromEntries(pairs.filter((pair) => pair !== undefined));
    return { method, path, headers, body };
  }
}
