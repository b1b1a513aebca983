import assert from 'node:assert/strict';
import { test } from 'node:test';
import Database from 'better-sqlite3';
import { auditLogPath } from '../../src/audit/sqlite-audit-log.ts';
import { assertError, assertOk } from '../support/api-caller.ts';
import { describePersonalLoans } from '../support/contract-suite.ts';
import { askOperator } from './operator-request.ts';

interface Page {
  readonly data: readonly { readonly number: number; readonly action: string; readonly [member: string]: unknown }[];
  readonly has_more: boolean;
  readonly next_cursor: string | null;
}

describePersonalLoans('GET /audit', (door) => {
  const ask = (query = '') => askOperator(door.market, { method: 'GET', path: `/audit${query}` });
  const readPage = async (query = '') => assertOk<Page>(await ask(query));

  test('returns the newest entries first, in pages', async () => {
    const { id } = door.market.issueKey(door.fixture);
    const all = await readPage();
    const { number, time, previous_hash, hash, details, ...newest } = all.data[0]!;
    assert.deepEqual(newest, {
      actor: 'embedding_program',
      actor_name: null,
      action: 'key.create',
      subject: id,
    });
    assert.equal((details as { vertical: string }).vertical, 'personal-loans');
    assert.equal(time, new Date(door.market.clock.wallMs() - 100).toISOString());
    assert.equal(previous_hash, all.data[1]!.hash);
    assert.match(String(hash), /^[0-9a-f]{64}$/);

    const paged: number[] = [];
    let query = '?limit=2';
    for (;;) {
      const { data, has_more, next_cursor } = await readPage(query);
      paged.push(...data.map((entry) => entry.number));
      assert.equal(has_more, next_cursor !== null);
      if (next_cursor === null) break;
      assert.equal(data.length, 2);
      query = `?limit=2&cursor=${next_cursor}`;
    }
    assert.deepEqual(
      paged,
      Array.from({ length: number }, (_, index) => number - index),
    );
  });

  test('filters entries by action and time', async () => {
    door.market.clock.advance(1_000);
    const since = new Date(door.market.clock.wallMs()).toISOString();
    door.market.issueKey(door.fixture);
    const { data } = await readPage(`?since=${since}`);
    assert.equal(data.length, 1);
    const created = await readPage('?action=key.create&limit=200');
    assert.ok(created.data.length >= 1 && created.data.every(({ action }) => action === 'key.create'));
    assert.deepEqual((await readPage('?since=2999-01-01')).data, []);
  });

  test('rejects invalid parameters', async () => {
    for (const [param, ...values] of [
      ['limit', '0', '201', 'x', '1.5', ''],
      ['cursor', '0', '-1', 'x', '1e3', ''],
      ['action', 'key', 'KEY.CREATE', ''],
      ['since', 'yesterday', '2026-13-01', ''],
    ] as const) {
      for (const value of values) assertError(await ask(`?${param}=${value}`), 'INVALID_REQUEST', param);
    }
    for (const param of ['limit', 'cursor']) {
      const path = `/confirmations?${param}=x`;
      assertError(await askOperator(door.market, { method: 'GET', path }), 'INVALID_REQUEST', param);
    }
  });

  test('refuses changes of operators while the audit log cannot be written, but no session and no experiment', async () => {
    const { market, fixture } = door;
    const caller = door.caller();
    const lock = new Database(auditLogPath(market.dataDir));
    lock.exec('BEGIN IMMEDIATE');
    const wish = { account: 'refused', vertical: 'personal-loans', mode: 'test' };
    const refused = [
      await askOperator(market, { method: 'POST', path: '/keys', json: wish }),
      await askOperator(market, { method: 'POST', path: '/confirmations', json: [{}] }),
    ];
    for (const answer of refused) {
      const { message } = assertError(answer, 'SERVICE_UNAVAILABLE');
      assert.match(message, /the audit log of the data folder cannot be written/);
      assert.ok(Number(answer.headers.get('retry-after')) >= 1);
    }
    await caller.createSessionWithFields('audit', fixture.complete);
    const arms = ['one-arm', 'two-arm'].map((referrer_tag) => ({ referrer_tag, weight: 0.5 }));
    const starts_on = new Date(market.clock.wallMs()).toISOString().slice(0, 10);
    const definition = { arms, control: 'one-arm', unit: 'session', starts_on };
    assertOk(await caller.send('PUT', 'experiments/while-locked', definition));
    lock.exec('ROLLBACK');
    lock.close();

    assert.ok(!(await askOperator(market, { path: '/keys' })).text.includes('refused'));
    // The entry that waited precedes the next entry.
    const { id } = market.issueKey(fixture);
    const { data } = await readPage('?limit=2');
    assert.deepEqual(
      data.map(({ action, subject }) => [action, subject]),
      [
        ['key.create', id],
        ['experiment.define', 'while-locked'],
      ],
    );
  });
});
