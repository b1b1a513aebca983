import assert from 'node:assert/strict';
import { execFile, spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { type TestContext, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { promisify, stripVTControlCharacters } from 'node:util';
import { formatTable } from '../../src/cli/output.ts';
import { plainEnvironment } from '../support/plain-environment.ts';
import { createSampleData, marketplaceOnFreshFolder } from './sample-data-folder.ts';

const bin = fileURLToPath(new URL('../../bin/marketplace', import.meta.url));
const noTerminals = spawnSync('script', ['--version']).status !== 0 && 'the script command is missing';
const noFullDevice = !existsSync('/dev/full') && 'there is no /dev/full';

/** Runs shell lines in which `$m` is the command, with a new data folder. */
async function shell(t: TestContext, lines: string, variables: Readonly<Record<string, string>> = {}) {
  const { folder } = marketplaceOnFreshFolder(t);
  const env = { ...plainEnvironment(), m: bin, SVC_DATA_DIR: folder, ...variables };
  return promisify(execFile)('bash', ['-c', lines], { env });
}

const bold = '\u001b[1mUsage:\u001b[22m ';

test('prints colours on terminals only, unless an environment variable overrides the default', {
  skip: noTerminals,
}, async (t) => {
  const onTerminal = `script -qec "$m --help" /dev/null`;
  const piped = '$m --help | cat';
  const [terminal, none, pipe, forced] = await Promise.all([
    shell(t, onTerminal),
    shell(t, onTerminal, { NO_COLOR: '1' }),
    shell(t, piped),
    shell(t, piped, { FORCE_COLOR: '1' }),
  ]);
  for (const { stdout } of [terminal, forced]) assert.ok(stdout.startsWith(bold), stdout.slice(0, 40));
  for (const { stdout } of [none, pipe]) assert.equal(stdout, stripVTControlCharacters(stdout));
});

test('a command succeeds even if the program that reads its output closes the pipe early', async (t) => {
  const { stdout, stderr } = await shell(t, '$m --help | true; echo "$PIPESTATUS"');
  assert.deepEqual([stdout, stderr], ['0\n', '']);
});

test('reports in one line that standard output is a file on a full disk', { skip: noFullDevice }, async (t) => {
  const lines =
    '$m --version > /dev/full; echo $?; $m keys list --json > /dev/full; echo $?; $m keys lst 2> /dev/full; echo $?';
  const { stdout, stderr } = await shell(t, lines);
  assert.equal(stdout, '1\n1\n2\n');
  const message = 'standard output cannot be written (ENOSPC)';
  assert.equal(stderr, `marketplace: ${message}\n${JSON.stringify({ error: { exit_code: 1, message } })}\n`);
});

test('the backup command shows a progress bar on a terminal, removes the bar at the end, and shows none with --json', {
  skip: noTerminals,
}, async (t) => {
  const { folder: dataDir, marketplace } = await createSampleData(t);
  await marketplace.close();
  // Standard error is a terminal. The preloaded clock advances fast, so that the command draws a bar.
  const slowClock = fileURLToPath(new URL('programs/slow-clock.ts', import.meta.url));
  const onTerminal = async (command: string) => {
    const variables = { SVC_DATA_DIR: dataDir, NODE_OPTIONS: `--import=${slowClock}`, SHELL: '/bin/sh' };
    return (await shell(t, `script -qec "$m ${command} > ${dataDir}-printed; true" /dev/null`, variables)).stdout;
  };
  const printed = await onTerminal(`backup ${dataDir}-copy`);
  const shares = [...printed.matchAll(/\r *(\d+)% \[[#-]{24}\]/g)].map(([, share]) => Number(share));
  assert.deepEqual([shares.at(-1), new Set(shares).size > 5], [100, true], printed);
  assert.deepEqual(
    shares,
    shares.toSorted((one, other) => one - other),
  );
  assert.equal(shares.filter((share) => share === 100).length, 1, printed);
  assert.match(printed, /\r +\r$/);
  assert.equal(await onTerminal(`backup ${dataDir}-other --json`), '');
});

test('a table column is as wide as its longest cell, measured in code points', () => {
  const lines = formatTable(
    ['NAME', 'N'],
    [
      ['🦊🦊🦊🦊🦊', '1'],
      ['Çelik', '2'],
    ],
  ).split('\n');
  assert.deepEqual(lines.map(stripVTControlCharacters), ['NAME   N', '🦊🦊🦊🦊🦊  1', 'Çelik  2']);
});
