import assert from 'node:assert/strict';
import { execFile, spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { plainEnvironment } from '../support/plain-environment.ts';
import { livedFolder } from './lived-folder.ts';

const here = (path: string) => fileURLToPath(new URL(path, import.meta.url));
const noTerminals = spawnSync('script', ['--version']).status !== 0 && 'the script command is missing';

describe('progress bars', { skip: noTerminals }, () => {
  let folder = '';
  before(() => {
    folder = mkdtempSync(join(tmpdir(), 'marketplace-progress-'));
  });
  after(() => rmSync(folder, { recursive: true, force: true }));

  /** Runs a shell line in which `$m` is the command. Standard error is a terminal, and the clock is fast enough to draw a bar. */
  async function onTerminal(line: string, settings: Readonly<Record<string, string>> = {}): Promise<string> {
    const env = {
      ...plainEnvironment(),
      m: here('../../bin/marketplace'),
      NODE_OPTIONS: `--import=${here('programs/slow-clock.ts')}`,
      SHELL: '/bin/sh',
      ...settings,
    };
    const { stdout } = await promisify(execFile)('script', ['-qec', `${line}; true`, '/dev/null'], {
      env,
      cwd: folder,
    });
    return stdout;
  }

  const sharesOf = (printed: string) =>
    [...printed.matchAll(/\r *(\d+)% \[[#-]{24}\]/g)].map(([, share]) => Number(share));

  test('a backup shows one bar on a terminal, removes it, and shows none with --json', async (t) => {
    const { folder: dataDir, marketplace } = await livedFolder(t);
    await marketplace.close();
    const settings = { SVC_DATA_DIR: dataDir };
    const printed = await onTerminal(`$m backup ${dataDir}-copy > printed`, settings);
    const shares = sharesOf(printed);
    assert.deepEqual([shares.at(-1), new Set(shares).size > 10], [100, true], printed);
    assert.deepEqual(
      shares,
      shares.toSorted((one, other) => one - other),
    );
    assert.equal(shares.filter((share) => share === 100).length, 1, printed);
    assert.match(printed, /\r +\r$/);
    assert.equal(await onTerminal(`$m backup ${dataDir}-other --json > printed`, settings), '');
  });
});
