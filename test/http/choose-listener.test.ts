import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { cp, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { type ListenerKind, startListener } from '../../src/http/choose-listener.ts';
import type { ListenerOptions } from '../../src/http/listener.ts';
import { errorReply } from './listener-cases.ts';

const run = promisify(execFile);
const sources = fileURLToPath(new URL('../../src', import.meta.url));
const program = fileURLToPath(new URL('./programs/serve-and-close.ts', import.meta.url));

/** What the program printed; rejects unless it ended by itself, without error, in time. */
async function serveAndClose(
  kind: ListenerKind,
  from: string,
): Promise<{ engine: string; body: string; fallbacks: string[] }> {
  const { stdout } = await run(process.execPath, [program, kind, from], { timeout: 60_000 });
  return JSON.parse(stdout);
}

/** The sources where nothing is installed, so that the native library cannot be found. */
async function withoutLibraries(use: (folder: string) => Promise<void>): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), 'listener-'));
  try {
    for (const part of ['http', 'tls', 'domain', 'bounds.ts'])
      await cp(join(sources, part), join(folder, part), { recursive: true });
    await use(folder);
  } finally {
    await rm(folder, { recursive: true });
  }
}

function options(port = 0): ListenerOptions {
  return {
    host: '127.0.0.1',
    port,
    handler: (exchange) => exchange.reply({ status: 200, headers: '', body: '' }),
    errorReply,
    onFault: (fault) => assert.fail(String(fault)),
    bodyBytesMax: 1_000,
    deadlineMs: 10_000,
  };
}

for (const [kind, engine] of [
  ['uws', 'uws'],
  ['auto', 'uws'],
  ['node', 'node'],
] as const) {
  test(`${kind} serves with ${engine}, and lets the process end once closed`, async () => {
    assert.deepEqual(await serveAndClose(kind, sources), { engine, body: 'served', fallbacks: [] });
  });
}

test('auto serves with node:http where the native library cannot be loaded, and says why', async () => {
  await withoutLibraries(async (folder) => {
    const { engine, body, fallbacks } = await serveAndClose('auto', folder);
    assert.equal(engine, 'node');
    assert.equal(body, 'served');
    assert.equal(fallbacks.length, 1);
    assert.match(fallbacks[0] ?? '', /uWebSockets\.js/);
  });
});

test('uws fails where the native library cannot be loaded', async () => {
  await withoutLibraries(async (folder) => {
    await assert.rejects(serveAndClose('uws', folder), /NativeEngineUnavailable|uWebSockets\.js cannot be loaded/);
  });
});

test('auto takes a port in use for an error, not for a reason to fall back', async () => {
  const first = await startListener('auto', options(), assert.fail);
  try {
    for (const kind of ['auto', 'uws', 'node'] as const) {
      await assert.rejects(startListener(kind, options(first.port), assert.fail), { code: 'EADDRINUSE' });
    }
  } finally {
    await first.close(0);
  }
});
