import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { LimitResult } from '../../../bench/result/bench-result.ts';
import { describeLimitFailure } from '../../../bench/result/bench-result.ts';

const exact: LimitResult = {
  name: 'requests-per-minute',
  title: 'requests a minute',
  limit: 500,
  connections: 64,
  attempted: 2_000,
  admitted: 500,
  refused: 1_500,
  other: 0,
  expected: 500,
  refusalCpuMicros: 10,
  admittedCpuMicros: 40,
  refusalsPerSecond: 50_000,
};

test('reports no error if a limit admits the expected number of requests and rejects the others', () => {
  assert.equal(describeLimitFailure(exact), null);
});

test('reports an error if a limit admits too many or too few requests, or a response has another status', () => {
  assert.match(
    describeLimitFailure({ ...exact, admitted: 501 })!,
    /requests-per-minute is not exact: of 2000 requests 501 were/,
  );
  assert.match(describeLimitFailure({ ...exact, admitted: 499 })!, /499 were admitted where 500 had to be/);
  assert.match(describeLimitFailure({ ...exact, other: 1 })!, /and 1 were answered otherwise/);
});
