/**
 * The bare server with durability: each reply waits until 80 bytes for it are synced to disk. Requests that arrive during a write
 * share the next write. This baseline measures the cost of durability alone.
 */

import type { HttpResponse } from 'uWebSockets.js';
import { constants, openSync, write as writeFile, writeSync } from 'node:fs';
import type { BaselineResponse } from './baseline-response.ts';
import { serveOnUws, type WriteResponse } from './serve-on-uws.ts';

/** Approximate size of the ledger record of a session or click. */
const recordBytes = 80;
/** The file is preallocated and overwritten from its start, so that no sync has to update its size. */
const fileBytes = 16 * 1024 * 1024;
const groupSizeMax = 4_096;

interface PendingResponse {
  /** Response object of the engine; null after the client has disconnected, because the object is invalid then. */
  res: HttpResponse | null;
  readonly answer: BaselineResponse;
  readonly write: WriteResponse;
}

const records = Buffer.alloc(groupSizeMax * recordBytes, 'r');
// The file is in the folder of the response file, which is deleted after the run.
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
    // The next write starts before these requests are answered.
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
