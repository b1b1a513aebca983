import assert from 'node:assert/strict';
import { chmodSync, readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import process from 'node:process';
import { type TestContext, test } from 'node:test';
import { pino } from 'pino';
import { temporaryFolder } from '../support/temporary-folder.ts';
import { personalLoansFixture } from '../support/vertical-fixtures.ts';
import { newKey, ok, startEmbedded } from './embedded-marketplace.ts';

/** The usual umask of a program that embeds the service. Other users can read new files. */
process.umask(0o022);

/** Runs a marketplace that writes all kinds of files, in an existing folder with this mode. */
async function livedIn(t: TestContext, mode: number) {
  const dataDir = temporaryFolder(t);
  chmodSync(dataDir, mode);
  const warnings: string[] = [];
  const logger = pino({ level: 'warn' }, { write: (line) => void warnings.push(JSON.parse(line).msg) });
  const marketplace = await startEmbedded(t, { dataDir, logger, listen: {} });
  const partner = marketplace.partnerApi(marketplace.keys.create(newKey).key);
  const { sub_id } = ok(await partner.createSession({ referrer_tag: 'private' }));
  ok(await partner.submitInputs({ sub_id, fields: personalLoansFixture.complete }));
  return { dataDir, warnings: warnings.filter((message) => message.includes('chmod failed')) };
}

const modeOf = (path: string): string => (statSync(path).mode & 0o7777).toString(8);

/** Returns the permissions of all files in a folder, by path. */
function modesIn(folder: string): Map<string, string> {
  const paths = readdirSync(folder, { recursive: true }) as string[];
  return new Map(paths.map((path) => [path, modeOf(join(folder, path))]));
}

test('restricts the permissions of a data folder that is accessible to other users', async (t) => {
  const { dataDir, warnings } = await livedIn(t, 0o755);
  assert.equal(modeOf(dataDir), '700');
  assert.deepEqual(warnings, []);
});

test('logs a warning and restricts each file if the permissions of the data folder cannot be changed', async (t) => {
  const { dataDir, warnings } = await livedIn(t, 0o1777);
  assert.equal(modeOf(dataDir), '1777');
  assert.deepEqual(warnings, ['data directory is accessible to other users; chmod failed']);
  const modes = modesIn(dataDir);
  for (const written of ['ledger', 'journal', 'catalogs', 'analytics.sqlite', 'analytics.sqlite-wal', 'keys.sqlite']) {
    assert.ok(modes.has(written), `${written} should be among them`);
  }
  const open = [...modes].filter(
    ([path, mode]) => mode !== (statSync(join(dataDir, path)).isDirectory() ? '700' : '600'),
  );
  assert.deepEqual(open, []);
});
