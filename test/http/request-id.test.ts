import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Worker } from 'node:worker_threads';
import { nextRequestId } from '../../src/http/engines/base-request-context.ts';

const url = new URL('../../src/http/engines/base-request-context.ts', import.meta.url).href;

function idOfAnotherThread(): Promise<string> {
  const source = `import('${url}').then((m) => require('node:worker_threads').parentPort.postMessage(m.nextRequestId()))`;
  const { promise, resolve, reject } = Promise.withResolvers<string>();
  new Worker(source, { eval: true }).once('message', resolve).once('error', reject);
  return promise;
}

test('ids are short, unique among threads, and safe in headers and logs', async () => {
  const ids = Array.from({ length: 5_000 }, nextRequestId);
  ids.push(await idOfAnotherThread(), await idOfAnotherThread());
  assert.equal(new Set(ids).size, ids.length);
  for (const id of ids) assert.match(id, /^[A-Za-z0-9_-]{14,24}$/);
});
