import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { cp, mkdir, writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import manifest from '../../package.json' with { type: 'json' };
import type { HttpEngineSetting } from '../../src/config/service-settings.ts';
import { startListener } from '../../src/http/engines/start-listener.ts';
import { runAfterTest } from '../support/run-after-test.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';
import { hello, listenerOptions } from './listener-bench.ts';

const run = promisify(execFile);
const sources = fileURLToPath(new URL('../../src', import.meta.url));
const program = fileURLToPath(new URL('./programs/serve-and-close.ts', import.meta.url));

/** Returns the output of the program. Rejects unless the program exits by itself without an error. */
async function serveAndClose(
  choice: HttpEngineSetting,
  from: string,
): Promise<{ engine: string; reason: string; body: string }> {
  const { stdout } = await run(process.execPath, [program, choice, from], { timeout: 600_000 });
  return JSON.parse(stdout);
}

const newest = 'uWebSockets.js-glibc-2.38';
const older = 'uWebSockets.js';
const require = createRequire(import.meta.url);
const versionOf = (name: string): string =>
  (manifest.dependencies as Readonly<Record<string, string>>)[name]!.replace('npm:@uwsjs/core@', '');

/** Package name of the uWebSockets.js build that loads on this machine. */
const loads = [newest, older].find((name) => {
  try {
    return require(name);
  } catch {
    return false;
  }
})!;

/** Copies the sources without installed packages, except for `packages`: the source texts of modules by package name. */
async function copySources(t: TestContext, packages: Readonly<Record<string, string>>): Promise<string> {
  const folder = temporaryFolder(t);
  for (const part of ['http', 'tls', 'domain', 'files', 'bounds.ts'])
    await cp(join(sources, part), join(folder, part), { recursive: true });
  for (const [name, source] of Object.entries(packages)) {
    const place = join(folder, 'node_modules', name);
    await mkdir(place, { recursive: true });
    await writeFile(join(place, 'index.js'), source);
  }
  return folder;
}

test('engine "auto" selects the newest uWebSockets.js build that loads', async () => {
  const { engine, reason, body } = await serveAndClose('auto', sources);
  assert.deepEqual([engine, body], ['uws', 'served']);
  assert.ok(reason.startsWith(`uWebSockets.js ${versionOf(loads)} loaded`), reason);
});

/** Fails like uWebSockets.js on a machine with an old C library. */
const tooOld =
  "throw new Error(`This version supports only some systems.\n\nError: libc.so.6: version 'GLIBC_2.38' not found\nmore`);";
const tooOldReason = `uWebSockets.js ${versionOf(newest)} cannot be loaded: libc.so.6: version 'GLIBC_2.38' not found`;

test('engine "auto" falls back to the older uWebSockets.js build if the newest cannot be loaded', async (t) => {
  const working = `module.exports = require(${JSON.stringify(require.resolve(loads))});`;
  const folder = await copySources(t, { [newest]: tooOld, [older]: working });
  const { engine, reason } = await serveAndClose('auto', folder);
  assert.equal(engine, 'uws');
  assert.equal(reason, `uWebSockets.js ${versionOf(older)} loaded; ${tooOldReason}`);
});

test('if no uWebSockets.js build can be loaded, engine "auto" uses node:http, and engine "uws" fails', async (t) => {
  const folder = await copySources(t, { [newest]: tooOld });
  const { engine, body, reason } = await serveAndClose('auto', folder);
  assert.deepEqual([engine, body], ['node', 'served']);
  assert.equal(
    reason,
    `${tooOldReason}; uWebSockets.js ${versionOf(older)} cannot be loaded: Cannot find module 'uWebSockets.js'`,
  );
  await assert.rejects(serveAndClose('uws', folder), /NativeEngineUnavailable|uWebSockets\.js \S+ cannot be loaded/);
});

test('engine "auto" does not fall back to node:http if the port is in use', async (t) => {
  const first = await startListener('auto', listenerOptions(hello));
  runAfterTest(t, () => first.close(0));
  await assert.rejects(startListener('auto', { ...listenerOptions(hello), port: first.port }), { code: 'EADDRINUSE' });
});
