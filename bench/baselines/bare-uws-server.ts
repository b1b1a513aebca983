/**
 * The yardstick: uWebSockets.js and nothing else. It reads a request whole, parses a JSON body, writes an answer that the
 * service once gave, byte for byte, and knows no key, session, offer or log. Runs in a process of its own.
 */
import type { HttpRequest, HttpResponse } from 'uWebSockets.js';
import uws from 'uWebSockets.js';
import { statusLine } from '../../src/http/reply-text.ts';
import { type BaselineAnswer, readAnswers, routesOf, serveUntilStopped } from './baseline-answer.ts';

/** Status and headers as one string: each call into the engine costs, and the service calls it once too. */
function headOf({ status, headers }: BaselineAnswer): string {
  return statusLine(status) + headers.map(([name, value]) => `\r\n${name}: ${value}`).join('');
}

// As the service does: no header that tells the engine's version.
(uws as unknown as { _cfg(setting: 'silent'): void })._cfg('silent');
const app = uws.App();
const answers = readAnswers(['date', 'content-length']);
const heads = new Map(answers.map((answer) => [answer, headOf(answer)]));
const write = (res: HttpResponse, answer: BaselineAnswer) => res.writeStatus(heads.get(answer)!).end(answer.body);

for (const { method, path, answerTo } of routesOf(answers)) {
  if (method === 'GET') {
    app.get(path, (res: HttpResponse, req: HttpRequest) => {
      write(res, answerTo(req.getQuery() ?? ''));
    });
    continue;
  }
  app.post(path, (res, req) => {
    const answer = answerTo(req.getQuery() ?? '');
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
      res.cork(() => write(res, answer));
    });
  });
}
app.listen('127.0.0.1', 0, (socket) => {
  if (!socket) throw new Error('the bare server found no port');
  serveUntilStopped(uws.us_socket_local_port(socket));
});
