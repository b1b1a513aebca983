import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';

const main = fileURLToPath(new URL('../../../bench/check/main.ts', import.meta.url));

function run(...args: string[]) {
  return spawnSync(process.execPath, [main, ...args], { encoding: 'utf8' });
}

test('exits with code 2 if the base or an option is invalid, before it measures anything', () => {
  for (const [args, message] of [
    [['--base', 'no-such-revision'], /no-such-revision is no revision .* set BASE to another revision/],
    [['--repeat', '5'], /--repeat must be an integer from 6 to 100/],
    [['--only', 'history'], /--only must be one of: session, inputs, .*, micro/],
    [['--client', 'curl'], /--client must be wrk or autocannon/],
    [['--fast'], /--fast/],
  ] as const) {
    const { status, stdout, stderr } = run(...args);
    assert.deepEqual([status, stdout], [2, ''], args.join(' '));
    assert.match(stderr, message);
  }
});

test('prints its options', () => {
  const { status, stdout } = run('--help');
  assert.equal(status, 0);
  for (const option of ['BASE=', '--base', '--only', '--repeat', '--client']) assert.ok(stdout.includes(option));
});
