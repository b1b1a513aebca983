import assert from 'node:assert/strict';
import { test } from 'node:test';
import { bounds } from '../../src/bounds.ts';
import type { ApiCaller } from '../support/api-caller.ts';
import { assertError } from '../support/api-caller.ts';
import { describePersonalLoans } from '../support/contract-suite.ts';
import { echoMarker } from '../support/http-client.ts';

/** The operations with a sub_id parameter. */
const operations = [
  (caller: ApiCaller, subId: string) => caller.post('inputs', { sub_id: subId, fields: {} }),
  (caller: ApiCaller, subId: string) => caller.get('marketplace', { sub_id: subId, format: 'json' }),
];

describePersonalLoans('sub_id', (door) => {
  test('a session expires at the millisecond of expires_at, also if it is used before', async () => {
    const { clock } = door.market;
    const caller = door.market.caller(door.fixture);
    const subId = await caller.createSessionWithFields('expiring', door.fixture.complete);
    for (const ms of [0, bounds.sessionTtlMs / 2, bounds.sessionTtlMs / 2 - 1]) {
      clock.advance(ms);
      for (const operation of operations) assert.equal((await operation(caller, subId)).status, 200);
    }
    const forged = `${subId.slice(0, -1)}${subId.endsWith('0') ? '1' : '0'}`;
    clock.advance(1);
    for (const operation of operations) {
      assertError(await operation(caller, subId), 'SUB_ID_EXPIRED');
      assertError(await operation(caller, forged), 'SUB_ID_NOT_FOUND');
    }
    await caller.createSessionWithFields('expiring', door.fixture.complete);
    assert.equal((await caller.summary({ referrer_tag: 'expiring' })).sessions_total, 2);
  });

  test('a forged sub_id returns SUB_ID_NOT_FOUND', async () => {
    const caller = door.market.caller(door.fixture);
    const { sub_id: genuine } = await caller.createSession('altered');
    for (const subId of [
      '',
      echoMarker,
      `sub_${'0'.repeat(64)}`,
      genuine.toUpperCase(),
      `${genuine} `,
      `${genuine}\u0000`,
    ]) {
      for (const operation of operations) assertError(await operation(caller, subId), 'SUB_ID_NOT_FOUND');
    }
  });
});
