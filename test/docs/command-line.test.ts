import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { helpOf } from '../../src/cli/command-help.ts';
import { commandPath, createProgram, withSubcommands } from '../../src/cli/program.ts';
import { createMarketplace } from '../../src/index.ts';
import { ok } from '../cli/lived-folder.ts';
import { serveMarketplace } from '../cli/serve-marketplace.ts';
import { afterwards } from '../support/afterwards.ts';
import { personalLoansFixture } from '../support/vertical-fixtures.ts';
import { type Excuse, withoutExcused } from './page-commands.ts';
import {
  checkout,
  damageLedger,
  lookLikeCheckout,
  runCommands,
  type Substitution,
  substituted,
} from './run-commands.ts';

const noJq = spawnSync('jq', ['--version']).status !== 0;

/** Lines that are not run here. */
const excuses: readonly Excuse[] = [
  { line: /^marketplace capacity .*--check/, why: 'takes minutes; test/bench runs a small one' },
  ...(noJq ? [{ line: /^.*\| jq\b/, why: 'jq is missing; bin/have-jq tries to get it' }] : []),
];

const substitutions: readonly Substitution[] = [
  ['SVC_PORT=9000', 'SVC_PORT=0'],
  ['http://10.0.0.5:9090', 'http://127.0.0.1:$SVC_OPS_PORT'],
  ['key_0123456789ab', '$KEY_ID'],
];

/** What a command takes for granted beside the folder of `makeReadersFolder`. */
const assumptions: Readonly<Record<string, string>> = {
  // It runs in the foreground: here until it serves, when it is told to stop.
  'marketplace serve': `
    marketplace() {
      coproc SERVER { exec path/marketplace "$@"; }
      local pid=$SERVER_PID
      grep -m 1 '^serving' <&"\${SERVER[0]}"
      kill -TERM $pid
      wait $pid
    }`,
  'marketplace keys revoke': `KEY_ID=$(marketplace keys list | grep -oE 'key_[0-9a-f]{12}')`,
  'marketplace catalog validate': `cp offers.json new.json`,
  'marketplace analytics rebuild': `cp -r data backup/`,
  'marketplace confirm': `cp data/operator-token .`,
  'marketplace log verify': `cp -r data backup/`,
  'marketplace log repair': `export SVC_DATA_DIR=data${damageLedger}`,
  'marketplace secret rotate': `cp data/secrets.json etc/marketplace/`,
};

/** A folder that looks like a checkout, with a catalog, and the data of a service in which a lender has confirmed a click. */
async function makeReadersFolder(folder: string): Promise<void> {
  lookLikeCheckout(folder);
  for (const name of ['backup', 'var/lib/marketplace', 'etc/marketplace'])
    mkdirSync(join(folder, name), { recursive: true });
  cpSync(join(checkout, 'src/verticals/personal-loans/example-catalog.json'), join(folder, 'offers.json'));
  const marketplace = await createMarketplace({ dataDir: join(folder, 'data') });
  try {
    const { key } = marketplace.keys.create({ account: 'acme', vertical: 'personal-loans', mode: 'live' });
    marketplace.origins.allow('acme', 'https://shop.example.com');
    const partner = marketplace.partner(key);
    const { sub_id } = ok(await partner.createSession({ referrer_tag: 'hero-short-form' }));
    ok(await partner.submitInputs({ sub_id, fields: personalLoansFixture.complete }));
    const { offers } = ok(await partner.getMarketplace({ sub_id }));
    const visit = await marketplace.followClick(offers[0]!.click_url);
    assert.ok(visit.kind === 'redirect');
    const click_id = [...new URL(visit.location).searchParams.values()].find((value) => value.length > 60)!;
    const row = {
      click_id,
      txid: 'tx-1',
      status: 'funded',
      amount: 40,
      occurred_at: new Date().toISOString(),
    } as const;
    ok(await marketplace.confirmations.submit([row]));
    const more = { ...row, txid: 'tx-2' };
    writeFileSync(join(folder, 'payouts.csv'), `${Object.keys(more)}\n${Object.values(more)}\n`);
    writeFileSync(join(folder, 'payouts.ndjson'), `${JSON.stringify({ ...more, txid: 'tx-3' })}\n`);
  } finally {
    await marketplace.close();
  }
}

const commands = withSubcommands(createProgram('')).filter((command) => command.commands.length === 0);

test('docs/command-line.md lists every command', () => {
  const page = readFileSync(join(checkout, 'docs/command-line.md'), 'utf8');
  const listed = [...page.matchAll(/^\| `(marketplace [a-z -]+)` \|/gm)].map(([, name]) => name);
  assert.deepEqual(listed, commands.map(commandPath));
});

describe('the examples in the help of the command line', { concurrency: 2 }, () => {
  let readers = '';
  before(async () => {
    readers = mkdtempSync(join(tmpdir(), 'marketplace-command-line-'));
    await makeReadersFolder(readers);
  });
  after(() => rmSync(readers, { recursive: true, force: true }));

  const used = new Set<Excuse>();
  for (const each of commands) {
    const command = commandPath(each);
    test(`runs those of ${command}`, async (t) => {
      const { rest, used: usedHere } = withoutExcused(helpOf(each).examples.join('\n'), excuses);
      for (const excuse of usedHere) used.add(excuse);
      assert.notEqual(rest.trim(), '');
      const folder = mkdtempSync(join(tmpdir(), 'marketplace-command-line-'));
      afterwards(t, () => rmSync(folder, { recursive: true, force: true }));
      cpSync(readers, folder, { recursive: true, verbatimSymlinks: true });
      let operationsPort = 0;
      if (command === 'marketplace confirm') {
        const server = await serveMarketplace(join(folder, 'data'));
        afterwards(t, () => server.stop());
        ({ operationsPort } = server);
      }
      const script = substituted(`${assumptions[command] ?? ''}\n${rest}`, substitutions);
      const { code, printed } = await runCommands(folder, script, {
        SVC_PORT: '0',
        SVC_OPS_PORT: String(operationsPort),
        SVC_MATCHER_THREADS: '0',
      });
      assert.equal(code, 0, `${script}\n\n${printed}`);
      // `null` is what jq makes of a member that is not there.
      assert.doesNotMatch(printed, /"error":|^null$/m, script);
    });
  }

  test('every assumption and every excuse is needed', () => {
    const known = new Set(commands.map(commandPath));
    assert.deepEqual(
      Object.keys(assumptions).filter((command) => !known.has(command)),
      [],
    );
    assert.deepEqual(
      excuses.filter((excuse) => !used.has(excuse)).map(({ why }) => why),
      [],
    );
  });
});
