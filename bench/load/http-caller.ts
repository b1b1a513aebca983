import { once } from 'node:events';
import { Agent, type IncomingMessage, request as startRequest } from 'node:http';
import { text } from 'node:stream/consumers';
import { type PreparedRequest, requestHeaders } from './prepared-request.ts';

export interface HttpResponse {
  readonly status: number;
  /** Response headers in received order. */
  readonly headerPairs: readonly (readonly [name: string, value: string])[];
  readonly body: string;
}

/** Client for the requests that prepare a load and are not measured, such as the creation of sessions. */
export class HttpCaller {
  readonly #port: number;
  readonly #connections: number;
  readonly #agent: Agent;

  constructor(port: number, connections: number) {
    this.#port = port;
    this.#connections = connections;
    this.#agent = new Agent({ keepAlive: true, maxSockets: connections });
  }

  /** Returns the responses in the order of the requests. If `expectedStatus` is given, throws if a response has a different status. */
  async sendRequests(requests: readonly PreparedRequest[], expectedStatus?: number): Promise<HttpResponse[]> {
    const responses = new Array<HttpResponse>(requests.length);
    let next = 0;
    const sendInTurn = async () => {
      while (next < requests.length) {
        const at = next++;
        const request = requests[at]!;
        const response = await this.#sendRequest(request);
        responses[at] = response;
        const { status, body } = response;
        if (expectedStatus !== undefined && status !== expectedStatus) {
          throw new Error(`the server answered ${status} to ${request.method} ${request.path}: ${body.slice(0, 200)}`);
        }
      }
    };
    await Promise.all(Array.from({ length: this.#connections }, sendInTurn));
    return responses;
  }

  close(): void {
    this.#agent.destroy();
  }

  async #sendRequest(request: PreparedRequest): Promise<HttpResponse> {
    const { method, path, body } = request;
    const length = body === undefined ? {} : { 'content-length': Buffer.byteLength(body) };
    const headers = { ...requestHeaders(request), ...length };
    const outgoing = startRequest({ agent: this.#agent, host: '127.0.0.1', port: this.#port, method, path, headers });
    outgoing.end(body);
    const [incoming] = (await once(outgoing, 'response')) as [IncomingMessage];
    // Ignores connection errors while the response body is read, because `text` throws if the body is incomplete.
    outgoing.on('error', () => {});
    const { statusCode, rawHeaders } = incoming;
    const headerPairs = Array.from(
      { length: rawHeaders.length / 2 },
      (_, at) => [rawHeaders[2 * at]!, rawHeaders[2 * at + 1]!] as const,
    );
    return { status: statusCode!, headerPairs, body: await text(incoming) };
  }
}
