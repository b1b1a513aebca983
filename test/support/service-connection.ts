import assert from 'node:assert/strict';
import { RawConnection, type RawResponse } from '../http/raw-connection.ts';
import { checkAgainstDocuments, checkErrorOfNone } from './document-checks.ts';
import { assertOurs } from './http-client.ts';
import { SentRequests } from './sent-requests.ts';
import { unpacked } from './unpacked.ts';

/** Statuses of what an engine answers by itself to bytes that it takes for no request of HTTP/1.1 (docs/contributing/native-http.md). */
const engineStatuses = [400, 431, 505];
const engineHeaders = ['connection', 'content-length', 'date'];

/**
 * A connection to the public listener of a service, over which a test sends what no client would. Each answer that the test reads
 * is checked as `HttpClient` checks it, and held against the OpenAPI document by the request it answers: the next of those that were
 * sent. Where it is not clear which that is (no request line that can be read, or a length that can be read in two ways before it), an
 * answer must be an error as the document has it.
 *
 * Not held against it are `100 Continue`, answers that a test does not read, and those that an engine writes by itself for what
 * it cannot read as a request, which have no JSON: the document names their statuses. They must be just that, and the last thing on
 * their connection.
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
    // What follows, if anything, is the engine's page.
    assert.match(answer.body.toString() + this.rest, /^(<h1>[^{}]*)?$/);
  }
}

/** A head that is too large for the engine is told so in a status, and nothing else. */
function assertBare({ headers, body }: RawResponse): void {
  assert.deepEqual([headers.get('connection'), body.length], ['close', 0]);
}
