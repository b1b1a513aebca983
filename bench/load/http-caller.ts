import { Agent, request as startRequest } from 'node:http';
import { type PreparedRequest, requestHeaders } from './prepared-request.ts';

export interface Answer {
  readonly status: number;
  readonly headers: NodeJS.Dict<string | string[]>;
  /** The same as they came over the wire. */
  readonly headerLines: readonly (readonly [name: string, value: string])[];
  readonly body: string;
}

/** Calls a server for what a scenario needs before its load: sessions, inputs, click addresses. Not measured. */
export class HttpCaller {
  readonly #port: number;
  readonly #connections: number;
  readonly #agent: Agent;

  constructor(port: number, connections: number) {
    this.#port = port;
    this.#connections = connections;
    this.#agent = new Agent({ keepAlive: true, maxSockets: connections });
  }

  /** The answers in the order of the requests. Throws at the first answer of another status. */
  async callAll(requests: readonly PreparedRequest[], expectedStatus: number): Promise<Answer[]> {
    const answers = new Array<Answer>(requests.length);
    let next = 0;
    const callInTurn = async () => {
      while (next < requests.length) {
        const at = next++;
        const request = requests[at]!;
        const answer = await this.#call(request);
        if (answer.status !== expectedStatus) {
          throw new Error(
            `${request.method} ${request.path.split('?')[0]} answered ${answer.status}: ${answer.body.slice(0, 200)}`,
          );
        }
        answers[at] = answer;
      }
    };
    await Promise.all(Array.from({ length: this.#connections }, callInTurn));
    return answers;
  }

  close(): void {
    this.#agent.destroy();
  }

  #call(request: PreparedRequest): Promise<Answer> {
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
            const headerLines = Array.from(
              { length: rawHeaders.length / 2 },
              (_, at) => [rawHeaders[2 * at]!, rawHeaders[2 * at + 1]!] as const,
            );
            resolve({ status: statusCode!, headers, headerLines, body });
          });
        },
      );
      outgoing.once('error', reject);
      outgoing.end(request.body);
    });
  }
}
