/** Baseline server like `uws-server.ts`, with the HTTP server of Node.js. */
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { announcePort, type BaselineResponse, groupResponsesByRoute, readResponses } from './baseline-response.ts';

const routes = new Map(
  groupResponsesByRoute(readResponses(['date', 'content-length'])).map((route) => [
    `${route.method} ${route.path}`,
    route,
  ]),
);
const rawHeaders = new Map<BaselineResponse, string[]>();

function writeResponse(res: ServerResponse, answer: BaselineResponse): void {
  let headers = rawHeaders.get(answer);
  if (headers === undefined) {
    headers = [...answer.headers.flat(), 'Content-Length', String(Buffer.byteLength(answer.body))];
    rawHeaders.set(answer, headers);
  }
  // Removes a default header that the service does not send.
  res.removeHeader('Connection');
  res.writeHead(answer.status, headers).end(answer.body);
}

const server = createServer((req, res) => {
  const [path, query = ''] = req.url!.split('?', 2) as [string, string?];
  const route = routes.get(`${req.method} ${path}`);
  if (route === undefined) {
    res.writeHead(404).end();
    return;
  }
  const answer = route.responseFor(query);
  if (route.method === 'GET') {
    writeResponse(res, answer);
    return;
  }
  const chunks: Buffer[] = [];
  req.on('data', (chunk: Buffer) => chunks.push(chunk));
  req.on('end', () => {
    JSON.parse((chunks.length === 1 ? chunks[0]! : Buffer.concat(chunks)).toString());
    writeResponse(res, answer);
  });
});
server.listen(0, '127.0.0.1', () => announcePort((server.address() as AddressInfo).port));
