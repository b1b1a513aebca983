import assert from 'node:assert/strict';
import { RawConnection, type RawResponse } from '../http/raw-connection.ts';
import { checkAgainstDocuments, checkErrorOfNone } from './document-checks.ts';
import { assertOurs } from './http-client.ts';
import { SentRequests } from './sent-requests.ts';
import { unpacked } from './unpacked.ts';

/** Statuses of responses that an engine generates for bytes that are not HTTP/1.1 (docs/contributing/native-http.md). */
const engineStatuses = [400, 431, 505];
const engineHeaders = ['connection', 'content-length', 'date'];

/**
 * Connection to the public listener of a service for requests that an HTTP client cannot send. Checks each response that
 * the test reads as `HttpClient` does, and against the OpenAPI document for the next sent request. If the next request is
 * ambiguous (no valid request line, or an earlier request with an ambiguous length), the response must be a documented
 * error.
 *
 * Skips `100 Continue` and responses that the test does not read. Responses that an engine generates for invalid HTTP have
 * no JSON. Such a response must have one of `engineStatuses` and must be the last one on its connection.
 */
export class ServiceConnection extends RawConnection {
  readonly #sent = new SentRequests();

  override async response(bodyless = false): Promise<RawResponse> {
    const answer = await super.response(bodyless);
    if (answer.status === 100) return answer;
    const asked = this.#sent.take();
    if (!answer.headers.has('x-request-id')) await this.#assertOfEngine(answer);
    else if (answer.status === 431) assertBare(answer);
    else {
      const ours = { ...answer, text: unpacked(answer.body, answer.headers) };
      for (const [name, count] of answer.counts) assert.equal(count, 1, `the header ${name} comes more than once`);
      assertOurs(ours);
      if (asked === null) checkErrorOfNone(ours);
      else checkAgainstDocuments(asked, ours);
    }
    return answer;
  }

  protected override write(bytes: string | Buffer, whenSent?: () => void): void {
    this.#sent.add(bytes);
    super.write(bytes, whenSent);
  }

  async #assertOfEngine(answer: RawResponse): Promise<void> {
    assert.ok(engineStatuses.includes(answer.status), `no engine answers ${answer.status} by itself`);
    const more = [...answer.headers.keys()].filter((name) => !engineHeaders.includes(name));
    assert.deepEqual(more, [], 'an answer without an id has headers of ours');
    await this.closed;
    // The engine may send an error page in addition.
    assert.match(answer.body.toString() + this.rest, /^(<h1>[^{}]*)?$/);
  }
}

/** Asserts that the response to a header section above the maximum size has only a status, without a body. */
function assertBare({ headers, body }: RawResponse): void {
  assert.deepEqual([headers.get('connection'), body.length], ['close', 0]);
}
