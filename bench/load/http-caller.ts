import { Agent, request as startRequest } from 'node:http';
import { type PreparedRequest, requestHeaders } from './prepared-request.ts';

export interface HttpResponse {
  readonly status: number;
  readonly headers: NodeJS.Dict<string | string[]>;
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

  /** Returns the responses in the order of the requests. Throws for an unexpected status. */
  async callAll(requests: readonly PreparedRequest[], expectedStatus: number): Promise<HttpResponse[]> {
    const answers = new Array<HttpResponse>(requests.length);
    await this.#runConcurrently(requests.length, async (at) => {
      const request = requests[at]!;
      const answer = await this.#call(request);
      if (answer.status !== expectedStatus) {
        throw new Error(
          `${request.method} ${request.path.split('?')[0]} answered ${answer.status}: ${answer.body.slice(0, 200)}`,
        );
      }
      answers[at] = answer;
    });
    return answers;
  }

  /** Sends `times` requests and counts the replies by status. */
  async countStatuses(requests: readonly PreparedRequest[], times: number): Promise<Map<number, number>> {
    const counts = new Map<number, number>();
    await this.#runConcurrently(times, async (at) => {
      const { status } = await this.#call(requests[at % requests.length]!);
      counts.set(status, (counts.get(status) ?? 0) + 1);
    });
    return counts;
  }

  /** Number of open connections. */
  get openConnections(): number {
    const { sockets, freeSockets } = this.#agent;
    return [sockets, freeSockets].flatMap((each) => Object.values(each)).reduce((sum, each) => sum + each!.length, 0);
  }

  close(): void {
    this.#agent.destroy();
  }

  /** Runs a task a number of times, one after the other on each connection. */
  async #runConcurrently(times: number, one: (at: number) => Promise<void>): Promise<void> {
    let next = 0;
    const inTurn = async () => {
      while (next < times) await one(next++);
    };
    await Promise.all(Array.from({ length: this.#connections }, inTurn));
  }

  #call(request: PreparedRequest): Promise<HttpResponse> {
    return new Promise((resolve, reject) => {
      const outgoing = startRequest(
        {
          agent: this.#agent,
          host: '127.0.0.1',
          port: this.#port,
          method: request.method,
          path: request.path,
          headers: {
            ...requestHeaders(request),
            ...(request.body === undefined ? {} : { 'content-length': Buffer.byteLength(request.body) }),
          },
        },
        (incoming) => {
          const chunks: Buffer[] = [];
          incoming.on('data', (chunk: Buffer) => chunks.push(chunk));
          incoming.once('error', reject);
          incoming.once('end', () => {
            const body = Buffer.concat(chunks).toString();
            const { statusCode, headers, rawHeaders } = incoming;
            const headerPairs = Array.from(
              { length: rawHeaders.length / 2 },
              (_, at) => [rawHeaders[2 * at]!, rawHeaders[2 * at + 1]!] as const,
            );
            resolve({ status: statusCode!, headers, headerPairs, body });
          });
        },
      );
      outgoing.once('error', reject);
      outgoing.end(request.body);
    });
  }
}
