import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { describe, test } from 'node:test';
import { keyUsePath } from '../../src/auth/key-use-file.ts';
import { bounds } from '../../src/bounds.ts';
import { msPerDay } from '../../src/domain/calendar.ts';
import { assertError, assertOk } from '../support/api-caller.ts';
import { describeServiceOnEveryEngine } from '../support/contract-suite.ts';
import { echoMarker } from '../support/http-client.ts';
import { RunningMarketplace } from '../support/running-marketplace.ts';
import { allFixtures, personalLoansFixture as fixture } from '../support/vertical-fixtures.ts';
import { askOperator } from './operator-request.ts';

interface ShownKey {
  readonly id: string;
  readonly account: string;
  readonly usage: Readonly<Record<string, { readonly limit: number; readonly used: number }>>;
  readonly last_used_at: string | null;
}

interface KeyPage {
  readonly data: readonly ShownKey[];
  readonly has_more: boolean;
  readonly next_cursor: string | null;
  readonly uses_known_since: string;
}

const otherFixture = allFixtures.find((each) => each !== fixture)!;
const iso = (ms: number) => new Date(ms).toISOString();

async function readKey(market: RunningMarketplace, id: string): Promise<ShownKey> {
  return assertOk<ShownKey>(await askOperator(market, { path: `/keys/${id}` }));
}

/** Reads all pages of keys. */
async function readPages(market: RunningMarketplace, query: string): Promise<ShownKey[][]> {
  const pages: ShownKey[][] = [];
  for (let cursor: string | null = ''; cursor !== null; ) {
    const path = `/keys?${query}${cursor === '' ? '' : `&cursor=${cursor}`}`;
    const page: KeyPage = assertOk<KeyPage>(await askOperator(market, { path }));
    assert.equal(page.has_more, page.next_cursor !== null);
    pages.push([...page.data]);
    cursor = page.next_cursor;
  }
  return pages;
}

describeServiceOnEveryEngine('pages of keys', ({ running }) => {
  const ask = (path: string) => askOperator(running(), { path });

  test('contain each key of the query once, oldest first', async () => {
    const market = running();
    const issue = (account: string) => market.issueKey(fixture, { account }).id;
    const ids = ['a', 'b', 'a', 'b', 'a', 'a', 'b'].map((account) => issue(account));
    const idsOf = async (query: string) => (await readPages(market, query)).map((page) => page.map(({ id }) => id));
    assert.deepEqual(await idsOf('limit=3'), [ids.slice(0, 3), ids.slice(3, 6), ids.slice(6)]);
    assert.deepEqual(await idsOf('limit=7'), [ids]);
    assert.deepEqual(await idsOf('account=a&limit=2'), [
      [ids[0], ids[2]],
      [ids[4], ids[5]],
    ]);
    assert.deepEqual(
      assertOk<KeyPage>(await ask(`/keys?cursor=${ids[5]}`)).data.map(({ id }) => id),
      [ids[6]],
    );
    assert.deepEqual(
      assertOk<ShownKey[]>(await ask('/keys?account=b')).map(({ account }) => account),
      ['b', 'b', 'b'],
    );
    assert.deepEqual(
      assertOk<ShownKey[]>(await ask('/keys')).map(({ id }) => id),
      ids,
    );
  });

  test('reject an invalid query, and the error names the invalid parameter', async () => {
    for (const limit of ['0', '-1', '1.5', '1e2', '', '%31x', String(bounds.operatorPageItemsMax + 1), echoMarker]) {
      assertError(await ask(`/keys?limit=${limit}`), 'INVALID_REQUEST', 'limit');
    }
    for (const cursor of ['', echoMarker, 'key_000000000000', "' OR 1=1 --", 'a'.repeat(2_000), '%00']) {
      assertError(await ask(`/keys?limit=5&cursor=${encodeURIComponent(cursor)}`), 'INVALID_REQUEST', 'cursor');
    }
    for (const account of ['', echoMarker, '%ff', "a'%20--"]) {
      assertError(await ask(`/keys?limit=5&account=${account}`), 'INVALID_REQUEST', 'account');
    }
    assertError(await ask('/keys?limit=5&limit=6'), 'INVALID_REQUEST', 'limit');
  });

  test('are required above the maximum number of keys', async () => {
    const market = running();
    const issue = () => market.issueKey(fixture, { account: 'many' });
    for (let count = market.marketplace.keys.list().length; count < bounds.unpagedItemsMax; count++) issue();
    assert.equal(assertOk<ShownKey[]>(await ask('/keys')).length, bounds.unpagedItemsMax);
    issue();
    const refused = assertError(await ask('/keys'), 'INVALID_REQUEST', 'limit');
    assert.match(refused.message, /is required for more than 1000 keys/);
    assert.equal((await readPages(market, 'limit=200')).flat().length, bounds.unpagedItemsMax + 1);
    assert.equal(assertOk<ShownKey[]>(await ask('/keys?account=a')).length, 4);
  });
});

describe('the usage of a key', () => {
  test('counts the requests of the last minute and the sessions of the UTC day', async (t) => {
    const market = await RunningMarketplace.start('uws');
    t.after(() => market.close());
    const { key, id } = market.issueKey(fixture, { limits: { requestsPerMinute: 9, sessionsPerDay: 2 } });
    const caller = market.callerWithKey(fixture, key);
    const usedNow = async () => {
      const { usage } = await readKey(market, id);
      assert.deepEqual(
        Object.values(usage).map(({ limit }) => limit),
        [9, bounds.analyticsPerMinuteDefault, 2],
      );
      return Object.values(usage).map(({ used }) => used);
    };
    assert.deepEqual(await usedNow(), [0, 0, 0]);
    const created = await caller.post('session', { referrer_tag: 'usage' });
    assertOk(await caller.get('tags', ''));
    assertOk(await caller.post('session', { referrer_tag: 'usage' }));
    assertError(await caller.post('session', { referrer_tag: 'usage' }), 'RATE_LIMIT_EXCEEDED');
    // The response header of another request is an independent source.
    assert.equal(created.headers.get('x-ratelimit-remaining'), '1');
    assert.deepEqual(await usedNow(), [3, 1, 2]);
    market.clock.advance(bounds.rateLimitWindowMs);
    assert.deepEqual(await usedNow(), [0, 0, 2]);
    await market.restart();
    assert.deepEqual(await usedNow(), [0, 0, 2]);
    market.clock.advance(msPerDay);
    assert.deepEqual(await usedNow(), [0, 0, 0]);
  });

  test('contains the time of the last request, also after the counters are deleted, and after a restart', async (t) => {
    const market = await RunningMarketplace.start('uws');
    t.after(() => market.close());
    const startMs = market.clock.wallMs();
    const [used, wrong, unused] = ['used', 'wrong', 'unused'].map((account) => market.issueKey(fixture, { account }));
    const lastUses = async () => {
      const page = assertOk<KeyPage>(await askOperator(market, { path: '/keys?limit=9' }));
      assert.equal(page.uses_known_since, iso(startMs));
      assert.deepEqual(
        page.data.map(({ id }) => id),
        [used!.id, wrong!.id, unused!.id],
      );
      return page.data.map(({ last_used_at }) => last_used_at);
    };
    assertOk(await market.callerWithKey(fixture, used!.key).get('tags', ''));
    const usedMs = market.clock.wallMs();
    market.clock.advance(1_000);
    // A rejected request with a valid key is a use of the key; a request with an invalid key is not.
    assertError(await market.callerWithKey(otherFixture, wrong!.key).get('tags', ''), 'VERTICAL_MISMATCH');
    const wrongMs = market.clock.wallMs();
    market.clock.advance(1_000);
    assertError(await market.callerWithKey(fixture, `${unused!.key.slice(0, -1)}x`).get('tags', ''), 'UNAUTHORIZED');
    const expected = [iso(usedMs), iso(wrongMs), null];
    assert.deepEqual(await lastUses(), expected);
    await market.restart();
    assert.deepEqual(await lastUses(), expected);
    await market.restart();
    assert.deepEqual(await lastUses(), expected);
    market.clock.advance(2 * bounds.rateLimitWindowMs);
    assertOk(await market.callerWithKey(fixture, unused!.key).get('tags', ''));
    const unusedMs = market.clock.wallMs();
    // Deletes the counters of idle keys.
    for (let i = 0; i < 3; i++) {
      market.clock.advance(2 * bounds.rateLimitWindowMs);
      assertError(await market.callerWithKey(otherFixture, wrong!.key).get('tags', ''), 'VERTICAL_MISMATCH');
    }
    assert.deepEqual(await lastUses(), [iso(usedMs), iso(market.clock.wallMs()), iso(unusedMs)]);
  });

  test('is unknown after a damage of its file, and the service starts', async (t) => {
    const market = await RunningMarketplace.start('uws');
    t.after(() => market.close());
    const { key, id } = market.issueKey(fixture);
    assertOk(await market.callerWithKey(fixture, key).get('tags', ''));
    for (const text of ['', 'svc-key-use 1 5\n', 'svc-key-use 1 5\n1 2\nend', 'svc-key-use 2 5\nend\n', '{}\n']) {
      await market.restart(() => writeFileSync(keyUsePath(market.folder), text));
      assert.equal((await readKey(market, id)).last_used_at, null, text);
      const { uses_known_since } = assertOk<KeyPage>(await askOperator(market, { path: '/keys?limit=1' }));
      assert.equal(uses_known_since, iso(market.clock.wallMs()));
    }
  });

  test('is not in the future after a time at which the clock was wrong', async (t) => {
    const market = await RunningMarketplace.start('uws');
    t.after(() => market.close());
    const { id } = market.issueKey(fixture);
    const future = market.clock.wallMs() + bounds.consoleLoginMs;
    const text = `svc-key-use 1 ${future}\n1 ${future}\nend\n`;
    await market.restart(() => writeFileSync(keyUsePath(market.folder), text));
    assert.equal((await readKey(market, id)).last_used_at, iso(market.clock.wallMs()));
    const { uses_known_since } = assertOk<KeyPage>(await askOperator(market, { path: '/keys?limit=1' }));
    assert.equal(uses_known_since, iso(market.clock.wallMs()));
  });
});
