import assert from 'node:assert/strict';
import { test } from 'node:test';
import { assertError } from '../support/api-caller.ts';
import { describeEveryVertical } from '../support/contract-suite.ts';

// The other rules for sessions and inputs are tested in test/operations and test/verticals.
describeEveryVertical('POST /inputs', (door) => {
  const { fixture } = door;
  test('every field accepts valid values and null, and rejects other values with the expected error code', async () => {
    const { vertical, fields } = fixture;
    assert.deepEqual(fields.map(({ name }) => name).sort(), vertical.fields.map(({ name }) => name).sort());
    const caller = door.caller({ limits: { requestsPerMinute: 100_000 } });
    const { sub_id: subId } = await caller.createSession('fields');
    for (const { name, valid, invalid, hints } of fields) {
      for (const value of [...valid, null]) {
        const view = await caller.submitFields(subId, { [name]: value });
        assert.deepEqual(view.fields_accepted, [name], `${name}: ${JSON.stringify(value)}`);
      }
      for (const [value, code] of invalid) {
        const answer = await caller.post('inputs', { sub_id: subId, fields: { [name]: value } });
        const { fields_invalid: refusals } = assertError(answer, 'INVALID_FIELD_VALUE');
        assert.equal(refusals?.length, 1);
        const { field, code: given, message, ...rest } = refusals[0] as Record<string, unknown>;
        assert.deepEqual([field, given], [name, code], `${name}: ${JSON.stringify(value)}`);
        assert.ok(typeof message === 'string' && message.length > 0);
        assert.ok(Object.keys(rest).every((member) => ['min', 'max', 'allowed'].includes(member)));
        for (const [hint, expected] of Object.entries(hints[code] ?? {})) assert.deepEqual(rest[hint], expected);
      }
    }
  });
});
