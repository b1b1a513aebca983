import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type ApiCaller, assertRefused } from '../support/api-caller.ts';
import { describePersonalLoans } from '../support/contract-suite.ts';
import { marker } from '../support/http-client.ts';

const fourHoursMs = 4 * 60 * 60 * 1000;

/** The operations with a sub_id parameter. */
const operations = [
  (caller: ApiCaller, subId: string) => caller.post('inputs', { sub_id: subId, fields: {} }),
  (caller: ApiCaller, subId: string) => caller.get('marketplace', { sub_id: subId, format: 'json' }),
];

describePersonalLoans('sub_id', (door) => {
  test('a session expires at the millisecond of expires_at', async () => {
    const { market, fixture } = door;
    const caller = market.caller(fixture);
    const subId = await caller.sessionWith('expiring', fixture.complete);
    market.clock.advance(fourHoursMs - 1);
    for (const operation of operations) assert.equal((await operation(caller, subId)).status, 200);
    market.clock.advance(1);
    for (const operation of operations) assertRefused(await operation(caller, subId), 'SUB_ID_EXPIRED');
    market.clock.advance(365 * 24 * 60 * 60 * 1000);
    for (const operation of operations) assertRefused(await operation(caller, subId), 'SUB_ID_EXPIRED');
  });

  test('requests do not extend a session', async () => {
    const { market, fixture } = door;
    const caller = market.caller(fixture);
    const subId = await caller.sessionWith('used', fixture.complete);
    for (let hour = 0; hour < 4; hour++) {
      for (const operation of operations) assert.equal((await operation(caller, subId)).status, 200);
      market.clock.advance(fourHoursMs / 4);
    }
    for (const operation of operations) assertRefused(await operation(caller, subId), 'SUB_ID_EXPIRED');
  });

  test('new sessions can use the tag of an expired session', async () => {
    const { market, fixture } = door;
    const caller = market.caller(fixture);
    await caller.createSession('same-tag');
    market.clock.advance(fourHoursMs);
    await caller.sessionWith('same-tag', fixture.complete);
    assert.equal((await caller.summary({ referrer_tag: 'same-tag' })).sessions_total, 2);
  });

  test('returns 404 for a forged sub_id', async () => {
    const { market, fixture } = door;
    const caller = market.caller(fixture);
    const { sub_id: genuine } = await caller.createSession('altered');
    const forged = [
      '',
      marker,
      'sub_',
      `sub_${'0'.repeat(genuine.length - 4)}`,
      genuine.toUpperCase(),
      `${genuine} `,
      ` ${genuine}`,
      `${genuine}0`,
      genuine.slice(0, -1),
      `${genuine}\u0000`,
      `${genuine.slice(0, -1)}${genuine.endsWith('0') ? '1' : '0'}`,
    ];
    for (const subId of forged) {
      for (const operation of operations) assertRefused(await operation(caller, subId), 'SUB_ID_NOT_FOUND');
    }
  });

  test('returns 404 for a forged sub_id, also after the expiry of the session', async () => {
    const { market, fixture } = door;
    const caller = market.caller(fixture);
    const { sub_id: genuine } = await caller.createSession('altered-later');
    const forged = `${genuine.slice(0, -1)}${genuine.at(-1) === '0' ? '1' : '0'}`;
    market.clock.advance(fourHoursMs);
    for (const operation of operations) {
      assertRefused(await operation(caller, genuine), 'SUB_ID_EXPIRED');
      assertRefused(await operation(caller, forged), 'SUB_ID_NOT_FOUND');
    }
  });
});
