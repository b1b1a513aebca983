/**
 * Baseline server that uses only uWebSockets.js. The server reads each request, parses a JSON body and sends a recorded response of the
 * service. The server has no API keys, sessions, offers or log. The first argument is the path of the response file. If the second argument
 * is `synced`, the server writes and syncs 80 bytes to disk before each reply. One disk write covers all requests that arrived during the
 * previous disk write. Without `synced`, the server writes nothing, so a comparison shows the cost of durability.
 */
import type { HttpRequest, HttpResponse } from 'uWebSockets.js';
import { constants, openSync, write as writeFile, writeSync } from 'node:fs';
import { statusLine } from '../../src/http/engines/response-head.ts';
import { loadNativeEngine } from '../../src/http/engines/uws-engine.ts';
import { announcePort, type BaselineResponse, groupResponsesByRoute, readResponses } from './baseline-response.ts';

/**
 * Sends a reply, immediately or after a disk write. `corked` means that a handler of uWebSockets.js is running, so the
 * reply needs no call of `cork`.
 */
type Send = (res: HttpResponse, answer: BaselineResponse, corked: boolean) => void;

const answers = readResponses(['date', 'content-length']);
// Status line and headers are one string, as in the service, because one call to uWebSockets.js is faster than one call per header.
const heads = new Map(
  answers.map((answer) => [
    answer,
    statusLine(answer.status) + answer.headers.map(([name, value]) => `\r\n${name}: ${value}`).join(''),
  ]),
);

function write(res: HttpResponse, answer: BaselineResponse): void {
  res.writeStatus(heads.get(answer)!).end(answer.body);
}

const sendNow: Send = (res, answer, corked) => {
  if (corked) write(res, answer);
  else res.cork(() => write(res, answer));
};

/** Approximate size of a session or click record in the ledger. */
const recordBytes = 80;
/** The file is preallocated and repeatedly overwritten, so that no sync has to update the file size. */
const fileBytes = 16 * 1024 * 1024;
const groupSizeMax = 4_096;

function createSyncedSend(path: string): Send {
  const records = Buffer.alloc(groupSizeMax * recordBytes, 'r');
  const file = openSync(path, constants.O_CREAT | constants.O_RDWR | constants.O_DSYNC, 0o600);
  writeSync(file, Buffer.alloc(fileBytes), 0, fileBytes, 0);
  /** `res` is null after the client has disconnected, because a disconnect invalidates the response object. */
  const pending: { res: HttpResponse | null; readonly answer: BaselineResponse }[] = [];
  let writing = false;
  let offset = 0;
  const writeNextGroup = (): void => {
    const group = pending.splice(0, groupSizeMax);
    if (group.length === 0) {
      writing = false;
      return;
    }
    const bytes = group.length * recordBytes;
    if (offset + bytes > fileBytes) offset = 0;
    writeFile(file, records, 0, bytes, offset, (error) => {
      if (error !== null) throw error;
      offset += bytes;
      // Starts the next disk write before sending the replies of the completed write.
      writeNextGroup();
      for (const { res, answer } of group) res?.cork(() => write(res, answer));
    });
  };
  return (res, answer) => {
    const entry: (typeof pending)[number] = { res, answer };
    res.onAborted(() => {
      entry.res = null;
    });
    pending.push(entry);
    if (writing) return;
    writing = true;
    setImmediate(writeNextGroup);
  };
}

// In `synced` mode, data is written to a file next to the response file, in a folder that the benchmark deletes after the run.
const send = process.argv[3] === 'synced' ? createSyncedSend(`${process.argv[2]}.records`) : sendNow;
// The build and settings of uWebSockets.js are the same as in the service.
const uws = loadNativeEngine().native as unknown as typeof import('uWebSockets.js');
const app = uws.App();
for (const { method, path, responseFor } of groupResponsesByRoute(answers)) {
  if (method === 'GET') {
    app.get(path, (res: HttpResponse, req: HttpRequest) => send(res, responseFor(req.getQuery() ?? ''), true));
    continue;
  }
  app.post(path, (res, req) => {
    const answer = responseFor(req.getQuery() ?? '');
    const chunks: Buffer[] = [];
    res.onAborted(() => {});
    res.onData((chunk, isLast) => {
      // Copies every chunk except the last, because uWebSockets.js reuses the memory of a chunk after the callback returns.
      if (!isLast) {
        chunks.push(Buffer.from(chunk.slice(0)));
        return;
      }
      const last = Buffer.from(chunk);
      JSON.parse((chunks.length === 0 ? last : Buffer.concat([...chunks, last])).toString());
      send(res, answer, false);
    });
  });
}
app.listen('127.0.0.1', 0, (socket) => {
  if (!socket) throw new Error('the baseline could not bind a port');
  announcePort(uws.us_socket_local_port(socket));
});
