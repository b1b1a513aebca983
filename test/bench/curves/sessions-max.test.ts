import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parseSessionsMax, readSessionsMax } from '../../../bench/curves/live-sessions-curve.ts';

test('reads the default maximum of live sessions from the service, without the environment variables of this process', async () => {
  process.env.SVC_MAX_SESSIONS = '7';
  try {
    assert.ok((await readSessionsMax()) > 10_000);
  } finally {
    delete process.env.SVC_MAX_SESSIONS;
  }
});

test('fails if the output of the service does not contain the maximum of live sessions', () => {
  assert.throws(() => parseSessionsMax('SVC_HOST 127.0.0.1 default'), /SVC_MAX_SESSIONS/);
});
