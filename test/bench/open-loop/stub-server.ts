import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';

/** What became of one request: its answer's status and when it is sent. Null: it gets no answer. */
export type StubAnswer = { readonly status: number; readonly afterMs: number } | null;

export interface StubServer {
  readonly port: number;
  /** Paths in the order they came in. */
  readonly paths: readonly string[];
  readonly bodies: readonly string[];
  close(): void;
}

/** A server that answers the n-th request (from 0) as told; 200 at once unless told otherwise. */
export async function startStubServer(
  answerTo: (n: number) => StubAnswer = () => ({ status: 200, afterMs: 0 }),
): Promise<StubServer> {
  const paths: string[] = [];
  const bodies: string[] = [];
  const server: Server = createServer((req, res) => {
    const answer = answerTo(paths.length);
    paths.push(`${req.method} ${req.url} ${req.headers.authorization ?? ''}`);
    let body = '';
    req.setEncoding('utf8').on('data', (text: string) => {
      body += text;
    });
    req.on('end', () => {
      bodies.push(body);
      if (answer === null) return;
      const reply = () => res.writeHead(answer.status, { 'content-length': 2 }).end('ok');
      if (answer.afterMs === 0) reply();
      else setTimeout(reply, answer.afterMs);
    });
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    port: (server.address() as AddressInfo).port,
    paths,
    bodies,
    close: () => {
      server.closeAllConnections();
      server.close();
    },
  };
}
