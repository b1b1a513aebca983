import assert from 'node:assert/strict';
import { test } from 'node:test';
import { fullScale, quickScale } from '../../../bench/bench-part.ts';
import { autocannonClient, createAutocannonClient } from '../../../bench/load/autocannon-client.ts';
import { planSeries } from '../../../bench/routes/run-scenario.ts';

const client = autocannonClient;
const crossCheck = createAutocannonClient(2);

test('a second client measures three rounds, and no more than the first', () => {
  assert.deepEqual(planSeries({ scale: { ...fullScale, rounds: 5 }, client, crossCheck }), [
    { client, rounds: 5 },
    { client: crossCheck, rounds: 3 },
  ]);
  assert.deepEqual(planSeries({ scale: { ...quickScale, rounds: 1 }, client, crossCheck }), [
    { client, rounds: 1 },
    { client: crossCheck, rounds: 1 },
  ]);
});

test('without a second client there is one series', () => {
  assert.deepEqual(planSeries({ scale: fullScale, client, crossCheck: undefined }), [
    { client, rounds: fullScale.rounds },
  ]);
});
