import assert from 'node:assert/strict';
import { RawConnection, type RawResponse } from '../http/raw-connection.ts';
import { checkErrorOfInvalidRequest } from './document-check.ts';
import { assertServiceHeaders, decompressedText } from './http-client.ts';

/** Statuses of responses that an engine generates for bytes that are not HTTP/1.1 (docs/contributing/native-http.md). */
const engineStatuses = [400, 431, 505];
const engineHeaders = ['connection', 'content-length', 'date'];

/**
 * Connection to the public listener of a service for requests that an HTTP client cannot send. Checks the headers of each response that
 * the test reads, and each JSON error against the OpenAPI document.
 *
 * Skips `100 Continue`. Responses that an engine generates for invalid HTTP have no JSON. Such a response must have one of
 * `engineStatuses` and must be the last one on its connection.
 */
export class ServiceConnection extends RawConnection {
  override async response(bodyless = false): Promise<RawResponse> {
    const answer = await super.response(bodyless);
    if (answer.status === 100) return answer;
    if (!answer.headers.has('x-request-id')) await this.#assertEngineError(answer);
    else if (answer.status === 431) assertNoBody(answer);
    else {
      const ours = { ...answer, text: decompressedText(answer.body, answer.headers) };
      for (const [name, count] of answer.counts) assert.equal(count, 1, `the header ${name} comes more than once`);
      assertServiceHeaders(ours);
      const isJson = answer.headers.get('content-type') === 'application/json';
      if (answer.status >= 400 && isJson && !bodyless) checkErrorOfInvalidRequest(ours);
    }
    return answer;
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
