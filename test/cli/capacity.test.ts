import assert from 'node:assert/strict';
import { cpSync, existsSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { sampleResult } from '../capacity/sample-result.ts';
import { runMarketplace } from './run-marketplace.ts';

const checkout = fileURLToPath(new URL('../..', import.meta.url));
const defaultMix = fileURLToPath(new URL('../../bench/mixes/default.json', import.meta.url));

/** The command on a made-up result, and files beside it that go with the test. */
function withResult(t: TestContext, result: unknown = sampleResult()) {
  const folder = mkdtempSync(join(tmpdir(), 'marketplace-capacity-'));
  t.after(() => rmSync(folder, { recursive: true }));
  const write = (name: string, text: string) => {
    const file = join(folder, name);
    writeFileSync(file, text);
    return file;
  };
  const file = write('result.json', JSON.stringify(result));
  const ask = (...args: string[]) =>
    runMarketplace(['capacity', '--keys', '10000', '--slo-p99', '35', '--result', file, ...args]);
  return { file, write, ask };
}

/** The command in a folder that, like the package, has no benchmarks. */
function packageWithoutBenchmarks(t: TestContext): string {
  const folder = mkdtempSync(join(tmpdir(), 'marketplace-package-'));
  t.after(() => rmSync(folder, { recursive: true }));
  for (const name of ['src', 'bin', 'package.json']) {
    cpSync(join(checkout, name), join(folder, name), { recursive: true });
  }
  for (const name of ['node_modules', '.node']) {
    if (existsSync(join(checkout, name))) symlinkSync(join(checkout, name), join(folder, name));
  }
  return join(folder, 'bin', 'marketplace');
}

test('the answer names the boxes, what one carries, and what gives first', async (t) => {
  const { ask, write } = withResult(t);
  const mix = write('mix.json', '{"format":1,"per_100_sessions":{}}');
  const { code, stdout, stderr } = await ask('--mix', mix);
  assert.deepEqual([code, stderr], [0, '']);
  assert.match(
    stdout,
    /^10,000 keys, p99 within 35 ms: 7 boxes\nOne box carries 1,440 keys; what gives first: p99 within the SLO\.\n/,
  );
  assert.match(stdout, /held back +20 % of every capacity/);
  assert.match(stdout, /p99 within the SLO +15,000 requests\/s +1,440 keys +79\.4 % +gives first\n/);
  assert.match(stdout, /\nBeyond what was measured:\n- /);
  assert.match(stdout, /^[\P{Cc}\n]*$/u);
});

test('--json has the same answer, for the shipped mix as for none', async (t) => {
  const { ask } = withResult(t);
  const [plain, named] = await Promise.all([ask('--json'), ask('--json', '--mix', defaultMix)]);
  assert.deepEqual([plain.code, plain.stderr], [0, '']);
  assert.equal(plain.stdout, named.stdout);
  const answer = JSON.parse(plain.stdout);
  assert.deepEqual([answer.keys, answer.slo_p99_ms, answer.headroom, answer.check], [10_000, 35, 0.2, null]);
  assert.equal(answer.boxes, Math.ceil(10_000 / answer.keys_per_box));
  const fewest = answer.resources.toSorted((a: { keys: number }, b: { keys: number }) => a.keys - b.keys)[0];
  assert.deepEqual([fewest.name, Math.floor(fewest.keys)], [answer.bottleneck, answer.keys_per_box]);
});

test('nothing held back gets more keys onto a box', async (t) => {
  const { ask } = withResult(t);
  const [some, none] = await Promise.all([ask('--json'), ask('--json', '--headroom', '0')]);
  assert(JSON.parse(none.stdout).keys_per_box > JSON.parse(some.stdout).keys_per_box);
});

test('a file that is missing, wrong or no file is told in one line with its name', async (t) => {
  const { ask, write, file } = withResult(t);
  for (const [args, told] of [
    [['--mix', `${file}.none`], /result\.json\.none cannot be read: ENOENT/],
    [['--mix', tmpdir()], /must be a file/],
    [
      ['--mix', write('typo.json', '{"format":1,"per_100_sessions":{"clicks":1}}')],
      /typo\.json is no mix: .*did you mean click\?/,
    ],
    [['--mix', write('large.json', ' '.repeat(70_000))], /large\.json must be at most 65536 bytes long/],
    [['--result', write('none.json', '{}')], /none\.json is no result of benchmarks; make bench makes one/],
    [
      ['--result', write('part.json', JSON.stringify(sampleResult({ curves: [] })))],
      /part\.json lacks the curve .*make bench/,
    ],
    [['--slo-p99', '1'], /no rate that was measured keeps p99 within 1 ms/],
  ] as const) {
    const { code, stdout, stderr } = await ask(...args);
    assert.deepEqual([code, stdout], [1, ''], args.join(' '));
    assert.match(stderr, told);
    assert.match(stderr, /^marketplace: [^\n]+\n$/);
  }
});

test('a wrong command line ends with 2 and says what to write', async (t) => {
  const { ask } = withResult(t);
  for (const [args, told] of [
    [['--keys', '0'], /whole number from 1/],
    [['--slo-p99', '0'], /milliseconds, more than 0/],
    [['--slo-p99', 'fast'], /milliseconds/],
    [['--headroom', '100'], /from 0 to less than 100/],
    [['--slo-p9', '5'], /did you mean --slo-p99\?/],
  ] as const) {
    const { code, stdout, stderr } = await ask(...args);
    assert.deepEqual([code, stdout], [2, ''], args.join(' '));
    assert.match(stderr, told);
    assert.match(stderr, /Try: marketplace capacity --help/);
  }
  const { code, stderr } = await runMarketplace(['capacity', '--slo-p99', '5']);
  assert.equal(code, 2);
  assert.match(stderr, /--keys/);
});

test('--check puts the load of a box on a real server and tells predicted beside measured', async (t) => {
  const { ask } = withResult(t);
  const { code, stdout } = await ask('--keys', '3', '--check', '--seconds', '1', '--sessions', '1000', '--json');
  const { check, predicted, load } = JSON.parse(stdout);
  assert.equal(code, check.carried ? 0 : 1);
  assert.deepEqual(
    check.figures.map(({ figure }: { figure: string }) => figure),
    ['rate', 'p99', 'socket-thread', 'all-threads', 'memory'],
  );
  const [rate, p99] = check.figures;
  assert.deepEqual([rate.predicted, p99.predicted], [load.requests_per_second, predicted.p99_ms]);
  assert(rate.measured > 0 && p99.measured > 0);
  assert.deepEqual([check.refused, check.failed, check.seconds], [0, 0, 1]);
});

test('--check refuses a load that is too long to be prepared, and says how long it may be', async (t) => {
  const { ask } = withResult(t);
  const { code, stdout, stderr } = await ask('--check', '--seconds', '3600');
  assert.deepEqual([code, stdout], [2, '']);
  assert.match(stderr, /^marketplace: a check prepares at most 2500000 requests: take --seconds \d+ or fewer\n$/);
});

test('--check in a package, which has no benchmarks, says where it can be run', async (t) => {
  const { file } = withResult(t);
  const command = packageWithoutBenchmarks(t);
  const args = ['capacity', '--keys', '3', '--slo-p99', '35', '--result', file, '--check'];
  const { code, stdout, stderr } = await runMarketplace([...args, '--json'], {}, { command });
  assert.deepEqual([code, stdout], [1, '']);
  const { error } = JSON.parse(stderr);
  assert.match(error.message, /^the check needs the benchmarks, .* make capacity-check KEYS=n SLO=ms in one$/);
});

test('where nothing was measured it plans with the shipped result, and says that it is of another machine', async (t) => {
  const command = packageWithoutBenchmarks(t);
  const asked = ['capacity', '--keys', '3', '--slo-p99', '50', '--json'];
  const { code, stdout, stderr } = await runMarketplace(asked, {}, { command });
  assert.deepEqual([code, stderr], [0, '']);
  const { box, beyond_measured: beyond } = JSON.parse(stdout);
  assert.equal(box.quick, false);
  assert.match(beyond[0], /^This machine was not measured: .* make bench/);
});

test('its help has examples and the exit codes', async () => {
  const { code, stdout } = await runMarketplace(['capacity', '--help']);
  assert.equal(code, 0);
  assert.match(stdout, /Examples:\n {2}\$ marketplace capacity --keys/);
  assert.match(stdout, /Exit codes:/);
});
