import type { HttpRequest, HttpResponse } from 'uWebSockets.js';
import { statusLine } from '../../src/http/engines/response-head.ts';
import { loadNativeEngine } from '../../src/http/engines/uws-engine.ts';
import { announcePort, type BaselineResponse, groupByRoute, readResponses } from './baseline-response.ts';

/** Writes a response. Must be called in a handler of the engine or in `cork`. */
export type WriteResponse = (res: HttpResponse, answer: BaselineResponse) => void;

/**
 * Serves the responses with uWebSockets.js: reads the whole request, parses a JSON body and calls `send`, which replies now or
 * later. `corked` means that the handler of the engine is running, so the reply needs no `cork`.
 */
export function serveOnUws(
  send: (res: HttpResponse, answer: BaselineResponse, corked: boolean, write: WriteResponse) => void,
): void {
  // The build and settings of uWebSockets.js are the same as in the service.
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
        // The engine reuses the memory of a chunk. A chunk that is the whole body needs no copy.
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
    if (!socket) throw new Error('the baseline could not bind a port');
    announcePort(uws.us_socket_local_port(socket));
  });
}

/** Joins all headers into one string like the service, because each call into the engine is expensive. */
function responseHead({ status, headers }: BaselineResponse): string {
  return statusLine(status) + headers.map(([name, value]) => `\r\n${name}: ${value}`).join('');
}
