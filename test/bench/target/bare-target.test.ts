import assert from 'node:assert/strict';
import { test } from 'node:test';
import { startBareTarget } from '../../../bench/target/bare-target.ts';

test('answers its route with the status and the size asked for', async () => {
  const target = await startBareTarget({ method: 'GET', path: '/v1/x', status: 302, bodyBytes: 1_234 });
  try {
    const answer = await fetch(`http://127.0.0.1:${target.port}/v1/x?a=b`, { redirect: 'manual' });
    assert.equal(answer.status, 302);
    assert.equal((await answer.arrayBuffer()).byteLength, 1_234);
  } finally {
    await target.close();
  }
});

test('reads a posted body whole before it answers, and goes on serving', async () => {
  const target = await startBareTarget({ method: 'POST', path: '/v1/x', status: 200, bodyBytes: 7 });
  try {
    for (let call = 0; call < 3; call++) {
      const answer = await fetch(`http://127.0.0.1:${target.port}/v1/x`, { method: 'POST', body: 'y'.repeat(300_000) });
      assert.equal(await answer.text(), 'xxxxxxx');
    }
  } finally {
    await target.close();
  }
});

test('is gone once closed, and may be closed again', async () => {
  const target = await startBareTarget({ method: 'GET', path: '/', status: 200, bodyBytes: 0 });
  await target.close();
  await target.close();
  await assert.rejects(fetch(`http://127.0.0.1:${target.port}/`));
});
