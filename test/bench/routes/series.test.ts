import assert from 'node:assert/strict';
import { test } from 'node:test';
import { fullScale, quickScale } from '../../../bench/bench-part.ts';
import { autocannonClient, createAutocannonClient } from '../../../bench/load/autocannon-client.ts';
import { planSeries } from '../../../bench/routes/run-scenario.ts';

const client = autocannonClient;
const crossCheck = createAutocannonClient(2);

test('measures three rounds with the second client, or fewer if the first client measures fewer', () => {
  assert.deepEqual(planSeries({ scale: { ...fullScale, rounds: 5 }, client, crossCheck }), [
    { client, rounds: 5 },
    { client: crossCheck, rounds: 3 },
  ]);
  assert.deepEqual(planSeries({ scale: { ...quickScale, rounds: 1 }, client, crossCheck }), [
    { client, rounds: 1 },
    { client: crossCheck, rounds: 1 },
  ]);
});

test('creates one series without a second client', () => {
  assert.deepEqual(planSeries({ scale: fullScale, client, crossCheck: undefined }), [
    { client, rounds: fullScale.rounds },
  ]);
});
