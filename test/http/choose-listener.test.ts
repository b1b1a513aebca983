import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { cp, mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import manifest from '../../package.json' with { type: 'json' };
import type { EngineChoice } from '../../src/config/config.ts';
import type { ListenerOptions } from '../../src/http/engines/listener.ts';
import { startListener } from '../../src/http/engines/start-listener.ts';
import { errorReply } from './listener-cases.ts';

const run = promisify(execFile);
const sources = fileURLToPath(new URL('../../src', import.meta.url));
const program = fileURLToPath(new URL('./programs/serve-and-close.ts', import.meta.url));

/** What the program printed; rejects unless it ended by itself, without error, in time. */
async function serveAndClose(
  kind: EngineChoice,
  from: string,
): Promise<{ engine: string; reason: string; body: string }> {
  const { stdout } = await run(process.execPath, [program, kind, from], { timeout: 60_000 });
  return JSON.parse(stdout);
}

const newest = 'uWebSockets.js-glibc-2.38';
const older = 'uWebSockets.js';
const require = createRequire(import.meta.url);
const versionOf = (name: string): string =>
  (manifest.dependencies as Readonly<Record<string, string>>)[name]!.replace('npm:@uwsjs/core@', '');

/** The build that loads on the machine of the tests. */
const loads = [newest, older].find((name) => {
  try {
    return require(name);
  } catch {
    return false;
  }
})!;

/** The sources without installed packages, except for the ones given: a name, and a folder or the message it fails with. */
async function withPackages(
  packages: Readonly<Record<string, { folder: string } | { fails: string }>>,
  use: (folder: string) => Promise<void>,
): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), 'listener-'));
  try {
    for (const part of ['http', 'tls', 'domain', 'bounds.ts'])
      await cp(join(sources, part), join(folder, part), { recursive: true });
    for (const [name, given] of Object.entries(packages)) {
      const place = join(folder, 'node_modules', name);
      await mkdir(dirname(place), { recursive: true });
      if ('folder' in given) {
        await symlink(given.folder, place);
        continue;
      }
      await mkdir(place);
      await writeFile(join(place, 'index.js'), `throw new Error(${JSON.stringify(given.fails)});`);
    }
    await use(folder);
  } finally {
    await rm(folder, { recursive: true });
  }
}

function options(port = 0): ListenerOptions {
  return {
    host: '127.0.0.1',
    port,
    handler: (context) => context.reply({ status: 200, headers: '', body: '' }),
    errorReply,
    onHandlerError: (fault) => assert.fail(String(fault)),
    bodyBytesMax: 1_000,
    deadlineMs: 10_000,
  };
}

for (const kind of ['uws', 'auto'] as const) {
  test(`${kind} serves with the newest build that loads, names it, and lets the process end once closed`, async () => {
    const { engine, reason, body } = await serveAndClose(kind, sources);
    assert.deepEqual([engine, body], ['uws', 'served']);
    assert.ok(reason.startsWith(`uWebSockets.js ${versionOf(loads)} loaded`), reason);
  });
}

test('node serves with node:http because it was requested', async () => {
  const served = await serveAndClose('node', sources);
  assert.deepEqual(served, { engine: 'node', reason: 'node:http was requested', body: 'served' });
});

/** Shaped like the message of the library for a C library that is too old. */
const tooOld = "This version supports only some systems.\n\nError: libc.so.6: version `GLIBC_2.38' not found\nmore";

test('auto serves with the older build where the newest cannot be loaded, and names the cause', async () => {
  const packages = { [newest]: { fails: tooOld }, [older]: { folder: dirname(require.resolve(loads)) } };
  await withPackages(packages, async (folder) => {
    const { engine, reason } = await serveAndClose('auto', folder);
    assert.equal(engine, 'uws');
    assert.equal(
      reason,
      `uWebSockets.js ${versionOf(older)} loaded; ` +
        `uWebSockets.js ${versionOf(newest)} cannot be loaded: libc.so.6: version \`GLIBC_2.38' not found`,
    );
  });
});

test('auto serves with node:http where no build can be loaded, and names the cause for each', async () => {
  await withPackages({ [newest]: { fails: tooOld } }, async (folder) => {
    const { engine, body, reason } = await serveAndClose('auto', folder);
    assert.deepEqual([engine, body], ['node', 'served']);
    assert.equal(
      reason,
      `uWebSockets.js ${versionOf(newest)} cannot be loaded: libc.so.6: version \`GLIBC_2.38' not found; ` +
        `uWebSockets.js ${versionOf(older)} cannot be loaded: Cannot find module 'uWebSockets.js'`,
    );
  });
});

test('uws fails where no build can be loaded', async () => {
  await withPackages({}, async (folder) => {
    await assert.rejects(serveAndClose('uws', folder), /NativeEngineUnavailable|uWebSockets\.js \S+ cannot be loaded/);
  });
});

test('auto takes a port in use for an error, not for a reason to fall back', async () => {
  const first = await startListener('auto', options());
  try {
    for (const kind of ['auto', 'uws', 'node'] as const) {
      await assert.rejects(startListener(kind, options(first.port)), { code: 'EADDRINUSE' });
    }
  } finally {
    await first.close(0);
  }
});
