import assert from 'node:assert/strict';
import { test } from 'node:test';
import { assertRefused } from '../support/api-caller.ts';
import { describeEveryVertical } from '../support/contract-suite.ts';

describeEveryVertical('pocket field', (door) => {
  test('the fixture contains every pocket field', () => {
    const { vertical, fields } = door.fixture;
    assert.deepEqual(fields.map(({ name }) => name).sort(), vertical.fields.map(({ name }) => name).sort());
  });

  for (const { name, valid, invalid, hints } of door.fixture.fields) {
    test(`${name} accepts valid values`, async () => {
      const caller = door.market.caller(door.fixture);
      const { sub_id: subId } = await caller.createSession('valid');
      for (const value of [...valid, null]) {
        const view = await caller.submit(subId, { [name]: value });
        assert.deepEqual(view.fields_accepted, [name], `${name}: ${JSON.stringify(value)}`);
      }
    });

    test(`${name} rejects invalid values with the expected reason`, async () => {
      const caller = door.market.caller(door.fixture);
      const { sub_id: subId } = await caller.createSession('invalid');
      for (const [value, code] of invalid) {
        const answer = await caller.post('inputs', { sub_id: subId, fields: { [name]: value } });
        const { fields_invalid: refusals } = assertRefused(answer, 'INVALID_FIELD_VALUE');
        assert.equal(refusals?.length, 1);
        const { field, code: given, message, ...rest } = refusals[0] as Record<string, unknown>;
        assert.deepEqual([field, given], [name, code], `${name}: ${JSON.stringify(value)}`);
        assert.ok(typeof message === 'string' && message.length > 0);
        const members = Object.keys(rest);
        assert.ok(members.every((member) => ['min', 'max', 'allowed'].includes(member)));
        for (const [hint, expected] of Object.entries(hints[code] ?? {})) assert.deepEqual(rest[hint], expected);
      }
    });
  }

  test('accepts an integer in exponential notation', async () => {
    const { market, fixture } = door;
    const caller = market.caller(fixture);
    const { sub_id: subId } = await caller.createSession('spellings');
    const submitted = (text: string) =>
      caller.post('inputs', `{"sub_id":"${subId}","fields":{"${fixture.amount}":${text}}}`);
    for (const text of ['1e4', '1.0e4', '10000.0', '1E+4']) assert.equal((await submitted(text)).status, 200, text);
    for (const text of ['1e400', '-1e400', '1e-400', '10000.5', '1e308']) {
      assertRefused(await submitted(text), 'INVALID_FIELD_VALUE');
    }
  });
});
