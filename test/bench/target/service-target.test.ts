import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { test } from 'node:test';
import { createApiKeys } from '../../../bench/target/service-target.ts';
import { writeLiveSessions } from '../../../bench/target/write-live-sessions.ts';
import { createMarketplace } from '../../../src/index.ts';
import { embeddedOptions } from '../../embedded/embedded-marketplace.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';

test('the service restores the live sessions that the benchmark wrote to its data folder', async (t) => {
  const dataDir = temporaryFolder(t);
  const [key] = await createApiKeys(dataDir, 10);
  const sample = await writeLiveSessions(dataDir, {
    count: 2_500,
    keys: 10,
    fields: 'required',
    sampleSize: 100,
  });
  assert.equal(new Set(sample.map(({ subId }) => subId)).size, 100);
  const marketplace = await createMarketplace({ ...embeddedOptions, dataDir, maxSessions: 2_500 });
  try {
    const partner = marketplace.partnerApi(key!);
    for (const { subId } of sample) {
      const answer = await partner.getMarketplace({ sub_id: subId });
      assert.ok(answer.ok, JSON.stringify(answer));
    }
    // The maximum of live sessions equals the requested number of sessions.
    const oneMore = await partner.createSession({ referrer_tag: 'one-more' });
    assert.equal(oneMore.ok ? 'created' : oneMore.error.error, 'SERVICE_UNAVAILABLE');
  } finally {
    await marketplace.close();
  }
});

test('writeLiveSessions creates a different borrower for each session, and returns a sample of evenly spaced sessions', async (t) => {
  const wanted = { count: 2_500, keys: 1, fields: 'all' } as const;
  const all = await writeLiveSessions(temporaryFolder(t), { ...wanted, sampleSize: 2_500 });
  assert.equal(new Set(all.map(({ borrower }) => JSON.stringify(borrower))).size, 2_500);
  const some = await writeLiveSessions(temporaryFolder(t), { ...wanted, sampleSize: 5 });
  // Each call generates the same borrowers. The index of a borrower shows which session received the inputs.
  const places = some.map(({ borrower }) =>
    all.findIndex((each) => JSON.stringify(each.borrower) === JSON.stringify(borrower)),
  );
  assert.deepEqual(places, [0, 500, 1_000, 1_500, 2_000]);
});

test('when the benchmark process exits, its temporary folder is deleted and the baseline server stops', () => {
  const modules = new URL('../../../bench/target/', import.meta.url).href;
  const program = `
    const { createTemporaryFolder } = await import('${modules}owned-resources.ts');
    const { startBaselineServer } = await import('${modules}baseline-target.ts');
    const folder = await createTemporaryFolder('${tmpdir()}', 'bench-owned-');
    const server = await startBaselineServer('bare', [], folder.path);
    process.stdout.write(folder.path + '\\n' + server.port, () => process.exit(7));
  `;
  const { status, stdout, stderr } = spawnSync(process.execPath, ['--input-type=module', '-e', program], {
    encoding: 'utf8',
    timeout: 30_000,
  });
  assert.equal(status, 7, stderr);
  const [path, port] = stdout.split('\n') as [string, string];
  assert.ok(path.includes('bench-owned-') && !existsSync(path));
  return assert.rejects(fetch(`http://127.0.0.1:${port}/`));
});
