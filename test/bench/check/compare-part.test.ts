import assert from 'node:assert/strict';
import { cpSync, existsSync, readFileSync, realpathSync, symlinkSync, writeFileSync } from 'node:fs';
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import { prepareBaseCheckout } from '../../../bench/check/base-checkout.ts';
import { checkScale, measurePair } from '../../../bench/check/compare-part.ts';
import { currentCheckout } from '../../../bench/target/service-target.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';
import { countedClient } from '../support/counted-load.ts';

/** Sends so few requests that a comparison takes seconds. */
const scale = { ...checkScale, rounds: 1, connections: 4, roundRequests: 40, keys: 40 };

/** Copies the service, and adds work to the creation of each session. */
function copyWithSlowSessions(folder: string): string {
  for (const part of ['bin', 'src', 'workers', 'package.json', 'package-lock.json']) {
    cpSync(join(currentCheckout, part), join(folder, part), { recursive: true });
  }
  symlinkSync(join(currentCheckout, 'node_modules'), join(folder, 'node_modules'));
  const file = join(folder, 'src/operations/create-session.ts');
  const source = readFileSync(file, 'utf8');
  const work = 'let sum = 0; for (let i = 0; i < 3e6; i++) sum += Math.sqrt(i); if (sum < 0) throw new Error();';
  const changed = source.replace('const subId = subIds.createSubId(', `${work} $&`);
  assert.notEqual(changed, source);
  writeFileSync(file, changed);
  return folder;
}

async function cpuRatios(current: string, folder: string): Promise<number[]> {
  const pairs = await measurePair(
    'session',
    0,
    { base: currentCheckout, current },
    { scale, client: countedClient, folder },
  );
  assert.deepEqual(
    pairs.map(({ name }) => name),
    ['CPU time of all threads', 'CPU time of the main thread', 'duration at full load'].map(
      (cost) => `session: ${cost}, us per request`,
    ),
  );
  return pairs.slice(0, 2).map(({ ratio }) => ratio);
}

test('measures a higher cost for a checkout whose sessions take ten times the CPU time, and deletes all files', async (t) => {
  const folder = temporaryFolder(t);
  for (const ratio of await cpuRatios(copyWithSlowSessions(temporaryFolder(t)), folder))
    assert.ok(ratio > 2, `${ratio}`);
  assert.deepEqual(await readdir(folder), []);
});

test('measures a similar cost for an equal checkout', async (t) => {
  for (const ratio of await cpuRatios(currentCheckout, temporaryFolder(t)))
    assert.ok(ratio < 2 && ratio > 0.5, `${ratio}`);
});

test('extracts a revision, with its packages and its built web pages', async (t) => {
  const { folder, description } = await prepareBaseCheckout('HEAD', temporaryFolder(t));
  assert.match(description, /^commit [0-9a-f]{12}$/);
  for (const file of ['bin/marketplace', 'src/web/widget/dist/widget.js', 'node_modules/typebox']) {
    assert.ok(existsSync(join(folder, file)), file);
  }
  assert.equal(existsSync(join(folder, 'archive.tar')), false);
  assert.notEqual(realpathSync(folder), realpathSync(currentCheckout));
});

test('compares with the folder of a checkout without a copy', async (t) => {
  const folder = temporaryFolder(t);
  assert.deepEqual(await prepareBaseCheckout(currentCheckout, folder), {
    folder: join(currentCheckout, '.'),
    description: currentCheckout,
  });
  assert.deepEqual(await readdir(folder), []);
});
