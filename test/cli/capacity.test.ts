import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { sampleResult } from '../capacity/sample-result.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';
import { assertFailed, runMarketplace } from './run-marketplace.ts';

const defaultMix = fileURLToPath(new URL('../../bench/mixes/default.json', import.meta.url));

/** Runs the command on a sample result, and writes further files. */
function withResult(t: TestContext) {
  const folder = temporaryFolder(t);
  const write = (name: string, text: string) => {
    const file = join(folder, name);
    writeFileSync(file, text);
    return file;
  };
  const file = write('result.json', JSON.stringify(sampleResult()));
  const plan = (...args: string[]) =>
    runMarketplace(['capacity', '--keys', '10000', '--slo-p99', '35', '--result', file, ...args]);
  return { file, write, plan };
}

test('prints the number of servers, the API keys per server, and the bottleneck', async (t) => {
  const { plan, write } = withResult(t);
  const mix = write('mix.json', '{"format":1,"per_100_sessions":{},"live_peak":1}');
  const { code, stdout, stderr } = await plan('--mix', mix);
  assert.deepEqual([code, stderr], [0, '']);
  assert.match(
    stdout,
    /^10,000 keys, p99 within 35 ms: 7 servers\nOne server can serve 1,440 keys. Bottleneck: p99 within the target\.\n/,
  );
  assert.match(stdout, /reserve +20 % of every capacity/);
  assert.match(stdout, /p99 within the target +15,000 requests\/s +1,440 keys +80 % +bottleneck\n/);
  assert.match(stdout, /\nNot covered by the measurements:\n- /);
  assert.match(stdout, /^[\P{Cc}\n]*$/u);
});

test('--json prints the plan, and the default traffic mix equals bench/mixes/default.json', async (t) => {
  const { plan } = withResult(t);
  const [plain, named] = await Promise.all([plan('--json'), plan('--json', '--mix', defaultMix)]);
  assert.deepEqual([plain.code, plain.stderr], [0, '']);
  assert.equal(plain.stdout, named.stdout);
  const answer = JSON.parse(plain.stdout);
  assert.deepEqual([answer.keys, answer.slo_p99_ms, answer.headroom, answer.check], [10_000, 35, 0.2, null]);
  assert.equal(answer.boxes, Math.ceil(10_000 / answer.keys_per_box));
  const fewest = answer.resources.toSorted((a: { keys: number }, b: { keys: number }) => a.keys - b.keys)[0];
  assert.deepEqual([fewest.name, Math.floor(fewest.keys)], [answer.bottleneck, answer.keys_per_box]);
});

test('reports a missing or invalid file in one line with the name of the file', async (t) => {
  const { plan, write, file } = withResult(t);
  for (const [args, message] of [
    [['--mix', `${file}.none`], /result\.json\.none does not exist/],
    [['--mix', tmpdir()], /is a folder/],
    [['--mix', write('text.json', '{')], /text\.json is not JSON/],
    [['--mix', write('typo.json', '{"format":1,"clicks":1}')], /typo\.json is not a traffic mix: /],
    [['--mix', write('large.json', ' '.repeat(70_000))], /large\.json is larger than 65536 bytes/],
    [
      ['--result', write('none.json', '{}')],
      /none\.json is not a benchmark result; run make bench to create a benchmark result/,
    ],
    [['--slo-p99', '1'], /p99 exceeds 1 ms at every measured rate/],
  ] as const) {
    const ran = await plan(...args);
    assertFailed(ran, 1, message);
    assert.match(ran.stderr, /^marketplace: [^\n]+\n$/);
  }
});

test('--check rejects a duration with too many requests and suggests a shorter duration', async (t) => {
  const { plan } = withResult(t);
  const message = /^marketplace: a check can send at most 2500000 requests: use --seconds \d+ or fewer\n$/;
  assertFailed(await plan('--check', '--seconds', '3600'), 2, message);
});
