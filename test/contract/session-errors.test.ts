import assert from 'node:assert/strict';
import { test } from 'node:test';
import { assertRefused } from '../support/answers.ts';
import type { ApiCaller } from '../support/api-caller.ts';
import { atEveryDoor } from '../support/doors.ts';
import { marker } from '../support/http-client.ts';

const fourHoursMs = 4 * 60 * 60 * 1000;

/** The operations that take a session. */
const asks = [
  (caller: ApiCaller, subId: string) => caller.post('inputs', { sub_id: subId, fields: {} }),
  (caller: ApiCaller, subId: string) => caller.get('marketplace', { sub_id: subId, format: 'json' }),
];

atEveryDoor('a sub_id', (door) => {
  test('answers to its last millisecond, and is expired from its expires_at on', async () => {
    const { market, fixture } = door;
    const caller = market.caller(fixture);
    const subId = await caller.sessionWith('expiring', fixture.complete);
    market.clock.advance(fourHoursMs - 1);
    for (const ask of asks) assert.equal((await ask(caller, subId)).status, 200);
    market.clock.advance(1);
    for (const ask of asks) assertRefused(await ask(caller, subId), 'SUB_ID_EXPIRED');
    market.clock.advance(365 * 24 * 60 * 60 * 1000);
    for (const ask of asks) assertRefused(await ask(caller, subId), 'SUB_ID_EXPIRED');
  });

  test('is not kept alive by use', async () => {
    const { market, fixture } = door;
    const caller = market.caller(fixture);
    const subId = await caller.sessionWith('used', fixture.complete);
    for (let hour = 0; hour < 4; hour++) {
      for (const ask of asks) assert.equal((await ask(caller, subId)).status, 200);
      market.clock.advance(fourHoursMs / 4);
    }
    for (const ask of asks) assertRefused(await ask(caller, subId), 'SUB_ID_EXPIRED');
  });

  test('that has expired leaves its tag to new sessions', async () => {
    const { market, fixture } = door;
    const caller = market.caller(fixture);
    await caller.createSession('same-tag');
    market.clock.advance(fourHoursMs);
    await caller.sessionWith('same-tag', fixture.complete);
    assert.equal((await caller.summary({ referrer_tag: 'same-tag' })).sessions_total, 2);
  });

  test('that was never issued is not found, and neither is one altered in any place', async () => {
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
      ...Array.from(genuine, (character, at) => {
        const other = character === '0' ? '1' : '0';
        return `${genuine.slice(0, at)}${other}${genuine.slice(at + 1)}`;
      }),
    ];
    for (const subId of forged) {
      for (const ask of asks) assertRefused(await ask(caller, subId), 'SUB_ID_NOT_FOUND');
    }
  });

  test('that was never issued is not found, whatever time has passed', async () => {
    const { market, fixture } = door;
    const caller = market.caller(fixture);
    const { sub_id: genuine } = await caller.createSession('altered-later');
    const forged = `${genuine.slice(0, -1)}${genuine.at(-1) === '0' ? '1' : '0'}`;
    market.clock.advance(fourHoursMs);
    for (const ask of asks) {
      assertRefused(await ask(caller, genuine), 'SUB_ID_EXPIRED');
      assertRefused(await ask(caller, forged), 'SUB_ID_NOT_FOUND');
    }
  });
});
