/**
 * The bare server where every answer waits until a few bytes for it are on disk: what durability alone costs, whatever else
 * a server does. Requests that come while a write is under way share the next one. Runs in a process of its own.
 */

import type { HttpResponse } from 'uWebSockets.js';
import { constants, openSync, write as writeFile, writeSync } from 'node:fs';
import type { BaselineAnswer } from './baseline-answer.ts';
import { serveOnUws, type WriteAnswer } from './serve-on-uws.ts';

/** About what the service keeps of a session or a click. */
const recordBytes = 80;
/** All blocks of the file are there, and it is written from its beginning again: no sync has to record a new size. */
const fileBytes = 16 * 1024 * 1024;
const groupMax = 4_096;

interface Waiting {
  /** Null once the client has gone: the engine's object is dead then. */
  res: HttpResponse | null;
  readonly answer: BaselineAnswer;
  readonly write: WriteAnswer;
}

const records = Buffer.alloc(groupMax * recordBytes, 'r');
// Beside the file of answers, in a folder that goes with the run.
const file = openSync(`${process.argv[2]}.records`, constants.O_CREAT | constants.O_RDWR | constants.O_DSYNC, 0o600);
writeSync(file, Buffer.alloc(fileBytes), 0, fileBytes, 0);

const waiting: Waiting[] = [];
let writing = false;
let offset = 0;

function storeGroup(): void {
  const group = waiting.splice(0, groupMax);
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
    storeGroup();
    for (const { res, answer, write } of group) res?.cork(() => write(res, answer));
  });
}

serveOnUws((res, answer, _corked, write) => {
  const entry: Waiting = { res, answer, write };
  res.onAborted(() => {
    entry.res = null;
  });
  waiting.push(entry);
  if (writing) return;
  writing = true;
  setImmediate(storeGroup);
});
