import assert from 'node:assert/strict';
import { test } from 'node:test';
import { blockedPorts } from '../../src/config/config.ts';

/** Beyond all of them: the highest is 10,080. */
const portsAsked = 11_000;

test('the ports refused are those that fetch itself refuses, before it so much as tries', async () => {
  let tried = 0;
  const dispatcher = {
    dispatch: () => {
      tried++;
      throw new Error('tried');
    },
  } as unknown as NonNullable<RequestInit['dispatcher']>;
  const refused: number[] = [];
  for (let port = 1; port < portsAsked; port++) {
    const before = tried;
    await assert.rejects(fetch(`http://127.0.0.1:${port}/`, { dispatcher }));
    if (tried === before) refused.push(port);
  }
  assert.deepEqual([...blockedPorts], refused);
});
