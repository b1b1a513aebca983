/**
 * The bare server where every answer waits until a few bytes for it are on disk: what durability alone costs, whatever else
 * a server does. Requests that come while a write is under way share the next one. Runs in a process of its own.
 */

import type { HttpResponse } from 'uWebSockets.js';
import { constants, openSync, write as writeFile, writeSync } from 'node:fs';
import type { BaselineResponse } from './baseline-response.ts';
import { serveOnUws, type WriteResponse } from './serve-on-uws.ts';

/** About what the service keeps of a session or a click. */
const recordBytes = 80;
/** All blocks of the file are there, and it is written from its beginning again: no sync has to record a new size. */
const fileBytes = 16 * 1024 * 1024;
const groupSizeMax = 4_096;

interface PendingResponse {
  /** Null once the client has gone: the engine's object is dead then. */
  res: HttpResponse | null;
  readonly answer: BaselineResponse;
  readonly write: WriteResponse;
}

const records = Buffer.alloc(groupSizeMax * recordBytes, 'r');
// Beside the file of answers, in a folder that goes with the run.
const file = openSync(`${process.argv[2]}.records`, constants.O_CREAT | constants.O_RDWR | constants.O_DSYNC, 0o600);
writeSync(file, Buffer.alloc(fileBytes), 0, fileBytes, 0);

const pendingResponses: PendingResponse[] = [];
let writing = false;
let offset = 0;

function writeNextGroup(): void {
  const group = pendingResponses.splice(0, groupSizeMax);
  if (group.length === 0) {
    writing = false;
    return;
  }
  const bytes = group.length * recordBytes;
  if (offset + bytes > fileBytes) offset = 0;
  writeFile(file, records, 0, bytes, offset, (error) => {
    if (error !== null) throw error;
    offset += bytes;
    // The next group is on its way while these are answered.
    writeNextGroup();
    for (const { res, answer, write } of group) res?.cork(() => write(res, answer));
  });
}

serveOnUws((res, answer, _corked, write) => {
  const entry: PendingResponse = { res, answer, write };
  res.onAborted(() => {
    entry.res = null;
  });
  pendingResponses.push(entry);
  if (writing) return;
  writing = true;
  setImmediate(writeNextGroup);
});
