import assert from 'node:assert/strict';
import { execFile, spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { plainEnvironment } from '../support/plain-environment.ts';
import { generateCatalog } from '../support/random-catalog.ts';
import { livedFolder } from './lived-folder.ts';

const here = (path: string) => fileURLToPath(new URL(path, import.meta.url));
const noTerminals = spawnSync('script', ['--version']).status !== 0 && 'the script command is missing';

describe('work that takes long', { skip: noTerminals }, () => {
  let folder = '';
  before(() => {
    folder = mkdtempSync(join(tmpdir(), 'marketplace-progress-'));
    writeFileSync(join(folder, 'offers.json'), JSON.stringify(generateCatalog(1, 60)));
    writeFileSync(join(folder, 'faulty.json'), JSON.stringify({ ...generateCatalog(1, 60), format: 2 }));
  });
  after(() => rmSync(folder, { recursive: true, force: true }));

  /** What a shell prints in which `$m` is the command, standard error being a terminal and the clock a slow one. */
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

  for (const [name, line] of [
    ['validate', '$m catalog validate offers.json > printed'],
    ['validate of a faulty file', '$m catalog validate faulty.json > printed'],
    ['stats', '$m catalog stats offers.json > printed'],
  ] as const) {
    test(`catalog ${name} shows a bar that moves from step to step, and takes it away`, async () => {
      const printed = await onTerminal(line);
      const shares = sharesOf(printed);
      assert.ok(new Set(shares).size > 10, printed);
      assert.deepEqual(
        shares,
        shares.toSorted((one, other) => one - other),
      );
      assert.ok(shares.at(-1)! >= 60, printed);
      // Nothing but an error comes after it.
      assert.match(printed, /\r +\r(marketplace: \S+ is no valid catalog: [^\r]*\r\n)?$/);
    });
  }

  test('reading a ledger shows a bar, and takes it away', async (t) => {
    const { folder: dataDir, marketplace } = await livedFolder(t);
    await marketplace.close();
    const settings = { SVC_DATA_DIR: dataDir };
    for (const command of ['log verify', 'analytics rebuild']) {
      const printed = await onTerminal(`$m ${command} > printed`, settings);
      assert.equal(sharesOf(printed).at(-1), 100, printed);
      assert.match(printed, /\r +\r$/);
      assert.equal(await onTerminal(`$m ${command} --json > printed`, settings), '');
    }
  });

  test('a backup shows one bar over all that it reads, and takes it away', async (t) => {
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

  test('of a catalog, with --json, and where standard error is no terminal, there is no bar', async () => {
    for (const command of ['validate offers.json', 'stats offers.json']) {
      assert.equal(await onTerminal(`$m catalog ${command} --json > printed`), '');
      assert.equal(await onTerminal(`$m catalog ${command} 2>&1 > printed | cat`), '');
    }
  });
});
