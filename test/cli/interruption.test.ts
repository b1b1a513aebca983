import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { join } from 'node:path';
import { json } from 'node:stream/consumers';
import { type TestContext, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { listen } from '../support/listen.ts';
import { plainEnvironment } from '../support/plain-environment.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';

const bin = fileURLToPath(new URL('../../bin/marketplace', import.meta.url));
const rowsOfTwoBatches = 501;

/** Creates a folder with rows to confirm, and a server that rejects the first batch and never responds to the second batch. */
async function createBlockedConfirmation(t: TestContext) {
  const folder = temporaryFolder(t);
  let batches = 0;
  const second = Promise.withResolvers<void>();
  const server = createServer(async (request, response) => {
    const rows = (await json(request)) as unknown[];
    if (++batches === 2) return second.resolve();
    const results = rows.map((_, index) => ({ index, outcome: 'rejected', reason: 'unknown_click' }));
    response.end(JSON.stringify({ results }));
  });
  const file = join(folder, 'payouts.ndjson');
  writeFileSync(file, '{"txid":"a"}\n'.repeat(rowsOfTwoBatches));
  writeFileSync(join(folder, 'operator-token'), `svc_operator_${'0'.repeat(64)}\n`);
  const url = `http://127.0.0.1:${await listen(t, server)}`;
  return { folder, args: ['confirm', file, '--url', url], second: second.promise };
}

for (const [signal, code] of [
  ['SIGINT', 130],
  ['SIGTERM', 143],
] as const) {
  test(`confirm deletes the incomplete file of rejected rows and exits with code ${code} at ${signal}`, async (t) => {
    const { folder, args, second } = await createBlockedConfirmation(t);
    const child = spawn(bin, args, {
      env: { ...plainEnvironment(), SVC_DATA_DIR: folder },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    let output = '';
    for (const stream of [child.stdout, child.stderr]) stream.on('data', (text: Buffer) => (output += text.toString()));
    await second;
    child.kill(signal);
    assert.deepEqual(await once(child, 'close'), [code, null]);
    assert.match(output, /^marketplace: interrupted\. Earlier rows may be booked; [^\n]+ changes nothing\n$/);
    assert.deepEqual(readdirSync(folder).sort(), ['operator-token', 'payouts.ndjson']);
  });
}
