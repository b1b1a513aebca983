import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parseBenchOptions } from '../../bench/options.ts';

const names = ['session', 'click'];

test('runs all parts at full length with the fastest client by default', () => {
  assert.deepEqual(parseBenchOptions([], names), {
    quick: false,
    only: [],
    client: undefined,
    publish: false,
    help: false,
  });
});

test('accepts --only several times', () => {
  assert.deepEqual(parseBenchOptions(['--only', 'session', '--only', 'click'], names).only, ['session', 'click']);
});

test('rejects an unknown name and lists the known names', () => {
  assert.throws(() => parseBenchOptions(['--only', 'sessions'], names), /session, click/);
});

test('rejects an unknown client or option', () => {
  assert.throws(() => parseBenchOptions(['--client', 'curl'], names), /wrk or autocannon/);
  assert.throws(() => parseBenchOptions(['--fast'], names), /--fast/);
});
