import type { HttpRequest, HttpResponse } from 'uWebSockets.js';
import { statusLine } from '../../src/http/engines/response-head.ts';
import { loadNativeEngine } from '../../src/http/engines/uws-engine.ts';
import { announcePort, type BaselineResponse, groupByRoute, readResponses } from './baseline-response.ts';

/** Writes an answer; only in a handler of the engine, or corked. */
export type WriteResponse = (res: HttpResponse, answer: BaselineResponse) => void;

/**
 * Serves the answers this process was started with on uWebSockets.js: reads a request whole, parses a JSON body, and hands its
 * answer to `send`, to be written at once or later. `corked`: the engine's own handler is running, so it may be written as it is.
 */
export function serveOnUws(
  send: (res: HttpResponse, answer: BaselineResponse, corked: boolean, write: WriteResponse) => void,
): void {
  // The build that the service runs on, set up the same way.
  const uws = loadNativeEngine().native as unknown as typeof import('uWebSockets.js');
  const app = uws.App();
  const answers = readResponses(['date', 'content-length']);
  const heads = new Map(answers.map((answer) => [answer, responseHead(answer)]));
  const write: WriteResponse = (res, answer) => res.writeStatus(heads.get(answer)!).end(answer.body);

  for (const { method, path, responseFor } of groupByRoute(answers)) {
    if (method === 'GET') {
      app.get(path, (res: HttpResponse, req: HttpRequest) => {
        send(res, responseFor(req.getQuery() ?? ''), true, write);
      });
      continue;
    }
    app.post(path, (res, req) => {
      const answer = responseFor(req.getQuery() ?? '');
      const chunks: Buffer[] = [];
      res.onAborted(() => {});
      res.onData((chunk, isLast) => {
        // A chunk is only lent; one that is the whole body needs no copy.
        if (!isLast) {
          chunks.push(Buffer.from(chunk.slice(0)));
          return;
        }
        const last = Buffer.from(chunk);
        JSON.parse((chunks.length === 0 ? last : Buffer.concat([...chunks, last])).toString());
        send(res, answer, false, write);
      });
    });
  }
  app.listen('127.0.0.1', 0, (socket) => {
    if (!socket) throw new Error('the baseline found no port');
    announcePort(uws.us_socket_local_port(socket));
  });
}

/** Status and headers as one string: each call into the engine costs, and the service calls it once too. */
function responseHead({ status, headers }: BaselineResponse): string {
  return statusLine(status) + headers.map(([name, value]) => `\r\n${name}: ${value}`).join('');
}
