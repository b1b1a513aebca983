import assert from 'node:assert/strict';
import { cpSync, existsSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { sampleResult } from '../capacity/sample-result.ts';
import { runMarketplace } from './run-marketplace.ts';
import { createFolder } from './sample-data-folder.ts';

const checkout = fileURLToPath(new URL('../..', import.meta.url));
const defaultMix = fileURLToPath(new URL('../../bench/mixes/default.json', import.meta.url));

/** Runs the command on a sample result, and writes further files. */
function withResult(t: TestContext, result: unknown = sampleResult()) {
  const folder = createFolder(t);
  const write = (name: string, text: string) => {
    const file = join(folder, name);
    writeFileSync(file, text);
    return file;
  };
  const file = write('result.json', JSON.stringify(result));
  const plan = (...args: string[]) =>
    runMarketplace(['capacity', '--keys', '10000', '--slo-p99', '35', '--result', file, ...args]);
  return { file, write, plan };
}

test('prints the number of servers, the API keys per server, and the bottleneck', async (t) => {
  const { plan, write } = withResult(t);
  const mix = write('mix.json', '{"format":1,"per_100_sessions":{}}');
  const { code, stdout, stderr } = await plan('--mix', mix);
  assert.deepEqual([code, stderr], [0, '']);
  assert.match(
    stdout,
    /^10,000 keys, p99 within 35 ms: 7 servers\nOne server can serve 1,440 keys. Bottleneck: p99 within the target\.\n/,
  );
  assert.match(stdout, /reserve +20 % of every capacity/);
  assert.match(stdout, /p99 within the target +15,000 requests\/s +1,440 keys +79\.4 % +bottleneck\n/);
  assert.match(stdout, /\nNot covered by the measurements:\n- /);
  assert.match(stdout, /^[\P{Cc}\n]*$/u);
});

test('--json prints the plan, and the default traffic mix equals the shipped file', async (t) => {
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
    [['--mix', `${file}.none`], /result\.json\.none cannot be read: ENOENT/],
    [['--mix', tmpdir()], /must be a file/],
    [
      ['--mix', write('typo.json', '{"format":1,"per_100_sessions":{"clicks":1}}')],
      /typo\.json is not a traffic mix: .*did you mean click\?/,
    ],
    [['--mix', write('large.json', ' '.repeat(70_000))], /large\.json must be at most 65536 bytes long/],
    [['--result', write('none.json', '{}')], /none\.json is not a benchmark result; make bench creates one/],
    [
      ['--result', write('part.json', JSON.stringify(sampleResult({ curves: [] })))],
      /part\.json lacks the latency curve .*make bench/,
    ],
    [['--slo-p99', '1'], /p99 exceeds 1 ms at every measured rate/],
  ] as const) {
    const { code, stdout, stderr } = await plan(...args);
    assert.deepEqual([code, stdout], [1, ''], args.join(' '));
    assert.match(stderr, message);
    assert.match(stderr, /^marketplace: [^\n]+\n$/);
  }
});

test('reports invalid options as usage errors', async (t) => {
  const { plan } = withResult(t);
  for (const [args, message] of [
    [['--keys', '0'], /integer from 1/],
    [['--slo-p99', '0'], /number of milliseconds, more than 0/],
    [['--slo-p99', 'fast'], /milliseconds/],
    [['--headroom', '100'], /from 0 to less than 100/],
    [['--slo-p9', '5'], /did you mean --slo-p99\?/],
  ] as const) {
    const { code, stdout, stderr } = await plan(...args);
    assert.deepEqual([code, stdout], [2, ''], args.join(' '));
    assert.match(stderr, message);
    assert.match(stderr, /Try: marketplace capacity --help/);
  }
  const { code, stderr } = await runMarketplace(['capacity', '--slo-p99', '5']);
  assert.equal(code, 2);
  assert.match(stderr, /--keys/);
});

test('--check rejects a duration with too many requests and suggests a shorter duration', async (t) => {
  const { plan } = withResult(t);
  const { code, stdout, stderr } = await plan('--check', '--seconds', '3600');
  assert.deepEqual([code, stdout], [2, '']);
  assert.match(stderr, /^marketplace: a check prepares at most 2500000 requests: use --seconds \d+ or fewer\n$/);
});

test('an installed package uses the shipped benchmark result, and --check names the make target to run in a checkout', async (t) => {
  const folder = createFolder(t);
  for (const name of ['src', 'bin', 'package.json'])
    cpSync(join(checkout, name), join(folder, name), { recursive: true });
  for (const name of ['node_modules', '.node']) {
    if (existsSync(join(checkout, name))) symlinkSync(join(checkout, name), join(folder, name));
  }
  const args = ['capacity', '--keys', '3', '--slo-p99', '50', '--json'];
  const command = join(folder, 'bin', 'marketplace');
  const { code, stdout, stderr } = await runMarketplace(args, {}, { command });
  assert.deepEqual([code, stderr], [0, '']);
  const { box, beyond_measured: beyond } = JSON.parse(stdout);
  assert.equal(box.quick, false);
  assert.match(beyond[0], /^This machine was not measured: .* make bench/);
  const check = await runMarketplace([...args, '--check'], {}, { command });
  assert.deepEqual([check.code, check.stdout], [1, '']);
  assert.match(
    JSON.parse(check.stderr).error.message,
    /^--check is available only in a checkout; run make capacity-check KEYS=n SLO=ms there$/,
  );
});
