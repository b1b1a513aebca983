import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parseBenchOptions } from '../../bench/options.ts';

const names = ['session', 'click'];

test('without options everything runs at full length with the cheapest client', () => {
  assert.deepEqual(parseBenchOptions([], names), {
    quick: false,
    only: [],
    client: undefined,
    publish: false,
    help: false,
  });
});

test('--only may be given more than once', () => {
  assert.deepEqual(parseBenchOptions(['--only', 'session', '--only', 'click'], names).only, ['session', 'click']);
});

test('an unknown name is refused with the names there are', () => {
  assert.throws(() => parseBenchOptions(['--only', 'sessions'], names), /session, click/);
});

test('an unknown client or option is refused', () => {
  assert.throws(() => parseBenchOptions(['--client', 'curl'], names), /wrk or autocannon/);
  assert.throws(() => parseBenchOptions(['--fast'], names), /--fast/);
});
