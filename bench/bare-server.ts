/**
 * The yardstick: uWebSockets.js and nothing else. It answers one route with a body of a given size, after reading the
 * request body whole, and knows no key, session, offer or log. Runs in a process of its own; prints its port when it
 * listens. Arguments: method, path, status, body bytes.
 */
import type { HttpResponse } from 'uWebSockets.js';
import uws from 'uWebSockets.js';

const [method, path, status, bodyBytes] = process.argv.slice(2) as [string, string, string, string];
const body = 'x'.repeat(Number(bodyBytes));

function answer(res: HttpResponse): void {
  res.writeStatus(status).writeHeader('content-type', 'application/json').end(body);
}

const app = uws.App();
if (method === 'POST') {
  app.post(path, (res) => {
    res.onAborted(() => {});
    res.onData((_chunk, isLast) => {
      if (isLast) res.cork(() => answer(res));
    });
  });
} else {
  app.get(path, answer);
}
app.listen('127.0.0.1', 0, (socket) => {
  if (!socket) throw new Error('the bare server found no port');
  process.stdout.write(`${uws.us_socket_local_port(socket)}\n`);
  process.once('SIGTERM', () => {
    uws.us_listen_socket_close(socket);
    process.exit(0);
  });
});
