import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parseSessionsMax, readSessionsMax } from '../../../bench/curves/live-sessions-curve.ts';

test('the service tells how many live sessions it would hold here, whatever this environment sets', async () => {
  process.env.SVC_MAX_SESSIONS = '7';
  try {
    assert.ok((await readSessionsMax()) > 10_000);
  } finally {
    delete process.env.SVC_MAX_SESSIONS;
  }
});

test('an output without the setting is no answer', () => {
  assert.throws(() => parseSessionsMax('SVC_HOST 127.0.0.1 default'), /SVC_MAX_SESSIONS/);
});
