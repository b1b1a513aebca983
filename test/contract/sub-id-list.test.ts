import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { SummaryView } from '../../src/index.ts';
import { assertOk, assertRefused } from '../support/answers.ts';
import { atEveryDoor } from '../support/doors.ts';
import { marker } from '../support/http-client.ts';

const many = { requestsPerMinute: 100_000, sessionsPerDay: 100_000 };

atEveryDoor('sub_id_list', (door) => {
  test('takes 500 real ids, whether their commas are written as such or as %2C, and counts each', async () => {
    const { market, fixture } = door;
    const caller = market.caller(fixture, { limits: many });
    const created = Array.from({ length: 500 }, () => caller.createSession('five-hundred'));
    const ids = (await Promise.all(created)).map(({ sub_id: id }) => id);
    assert.equal(new Set(ids).size, 500);
    for (const comma of ['%2C', '%2c', ',']) {
      const answer = await caller.get('analytics', `sub_id_list=${ids.join(comma)}`);
      assert.equal(assertOk<SummaryView>(answer).sessions_total, 500, comma);
    }
    const one = await caller.createSession('five-hundred');
    const tooMany = `sub_id_list=${[...ids, one.sub_id].join(',')}`;
    assertRefused(await caller.get('analytics', tooMany), 'INVALID_REQUEST', 'sub_id_list');
  });

  test('counts ids as sent: 501 of the same, or of nothing, are too many', async () => {
    const caller = door.market.caller(door.fixture);
    for (const id of ['', 'x', marker]) {
      const list = new Array<string>(501).fill(id).join(',');
      assertRefused(await caller.get('analytics', { sub_id_list: list }), 'INVALID_REQUEST', 'sub_id_list');
      await caller.summary({ sub_id_list: list.slice(id.length + 1) });
    }
  });

  test('counts an id given twice once', async () => {
    const caller = door.market.caller(door.fixture);
    const { sub_id: id } = await caller.createSession('twice');
    const summary = await caller.summary({ sub_id_list: `${id},${id},${id}` });
    assert.deepEqual([summary.sessions_total, summary.ids_outside_dates], [1, 0]);
  });

  test('passes over ids that are malformed, altered or never issued', async () => {
    const caller = door.market.caller(door.fixture);
    const { sub_id: id } = await caller.createSession('strays');
    const last = id.at(-1) === '0' ? '1' : '0';
    const strays = [
      '',
      ' ',
      marker,
      id.toUpperCase(),
      `${id}0`,
      id.slice(0, -1),
      `${id.slice(0, -1)}${last}`,
      ` ${id}`,
    ];
    const alone = await caller.summary({ sub_id_list: strays.join(',') });
    assert.deepEqual([alone.sessions_total, alone.ids_outside_dates], [0, 0]);
    assert.equal((await caller.summary({ sub_id_list: [...strays, id].join(',') })).sessions_total, 1);
  });

  test('takes ids of expired sessions', async () => {
    const { market, fixture } = door;
    const caller = market.caller(fixture);
    const { sub_id: id } = await caller.createSession('expired-ids');
    market.clock.advance(5 * 60 * 60 * 1000);
    assert.equal((await caller.summary({ sub_id_list: id })).sessions_total, 1);
  });
});
