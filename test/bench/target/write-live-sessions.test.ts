import assert from 'node:assert/strict';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { writeLiveSessions } from '../../../bench/target/write-live-sessions.ts';
import { createMarketplace } from '../../../src/index.ts';

let folder = '';
before(async () => {
  folder = await mkdtemp(join(tmpdir(), 'bench-written-'));
});
after(() => rm(folder, { recursive: true }));

test('restores prewritten sessions as live sessions with inputs', async () => {
  const dataDir = await mkdtemp(join(folder, 'data-'));
  const told = await writeLiveSessions(dataDir, {
    count: 2_500,
    keys: 10,
    fields: 'required',
    seed: 1,
    sampleSize: 100,
  });
  assert.equal(new Set(told.map(({ subId }) => subId)).size, 100);
  const marketplace = await createMarketplace({ dataDir, durability: 'write', maxSessions: 2_500 });
  try {
    const { key } = marketplace.keys.create({ account: 'any', vertical: 'personal-loans', mode: 'live' });
    const partner = marketplace.partner(key);
    for (const { subId } of told) {
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

test('gives every session different inputs, and spreads the sessions with inputs over all sessions', async () => {
  const wanted = { keys: 1, fields: 'all', seed: 1 } as const;
  const all = await writeLiveSessions(await mkdtemp(join(folder, 'data-')), {
    ...wanted,
    count: 2_500,
    sampleSize: 2_500,
  });
  assert.equal(new Set(all.map(({ borrower }) => JSON.stringify(borrower))).size, 2_500);
  const some = await writeLiveSessions(await mkdtemp(join(folder, 'data-')), {
    ...wanted,
    count: 2_500,
    sampleSize: 5,
  });
  // The same seed generates the same borrowers. The index of a borrower shows which session received the inputs.
  const places = some.map(({ borrower }) =>
    all.findIndex((each) => JSON.stringify(each.borrower) === JSON.stringify(borrower)),
  );
  assert.deepEqual(places, [0, 500, 1_000, 1_500, 2_000]);
});
