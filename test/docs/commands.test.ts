import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import process from 'node:process';
import { after, before, describe, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { type ServedMarketplace, serveMarketplace } from '../cli/serve-marketplace.ts';
import { commandsOf, type Excuse, withoutExcused } from './page-commands.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));

/** Pages whose commands another test runs, with that test. */
const runElsewhere: Readonly<Record<string, string>> = {
  'docs/command-line.md': 'test/cli/program.test.ts',
};

/** Lines that are not run here, all pages together. */
const excuses: readonly Excuse[] = [
  { line: /^make (run|test)\b/, why: 'the server runs already, and this is one of the tests' },
  { line: /^make (bench|capacity-check)\b/, why: 'takes minutes; test/bench runs small ones' },
  {
    line: /^bin\/marketplace capacity\b/,
    why: 'needs a result of the benchmarks; test/cli/capacity.test.ts runs it on one',
  },
  { line: /^marketplace log repair\b/, why: 'needs a damaged ledger; test/cli/log.test.ts repairs some' },
  { line: /^(sudo|systemctl|journalctl|docker|kubectl)\b/, why: 'belongs to the machine of an operator' },
];

/** What stands for something of the reader's own, or for a place that is taken on this machine. */
const substitutions = (server: ServedMarketplace): readonly (readonly [text: string | RegExp, instead: string])[] => [
  ['http://127.0.0.1:8080', `http://127.0.0.1:${server.port}`],
  ['http://127.0.0.1:9090', `http://127.0.0.1:${server.operationsPort}`],
  [/(?<![\w.])\/(backup|var\/lib\/marketplace|var\/log\/marketplace|etc\/marketplace)\b/g, '$PWD/$1'],
];

/** What a page takes for granted: files of the reader's, or what an earlier page has set. */
const assumptions: Readonly<Record<string, string>> = {
  'docs/catalog.md': `cp "$CHECKOUT/src/catalogs/personal-loans.json" offers.json`,
  'docs/confirmations.md': `printf 'click_id,txid,status,amount,occurred_at\\n' > payouts.csv`,
  'docs/widget.md': `
    export API=$SERVER/v1/personal-loans
    export KEY=$(marketplace keys create --account acme --vertical personal-loans --mode live --raw)
    SUB=$(curl -sS $API/session -H "Authorization: Bearer $KEY" -H 'Content-Type: application/json' -d '{"referrer_tag":"a-tag"}' | grep -oE 'sub_[0-9a-f]{64}')
    curl -sS $API/inputs -H "Authorization: Bearer $KEY" -H 'Content-Type: application/json' -d '{"sub_id":"'$SUB'","fields":{
      "loan_amount":15000,"loan_purpose":"moving","credit_score_range":"700-749","annual_income":85000,"employment_status":"employed","state":"CA"}}'`,
};

const documents = [
  'README.md',
  ...readdirSync(join(root, 'docs'), { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.md'))
    .map((name) => `docs/${name}`)
    .sort(),
];

interface Ran {
  readonly code: number;
  readonly printed: string;
}

/** Runs a page's commands, one after the other, in one shell of a folder that looks like a checkout. */
function runCommands(folder: string, script: string, settings: Readonly<Record<string, string>>): Promise<Ran> {
  const inherited = Object.entries(process.env).filter(([name]) => !/^(SVC_|NODE_TEST)/.test(name));
  const env = { ...Object.fromEntries(inherited), ...settings };
  // Into a file: what Node.js gives a child for its output cannot be opened by name, as `tee /dev/stderr` does.
  const output = join(folder, 'printed');
  const shell = ['-e', '-u', '-o', 'pipefail', '-c', `exec >"${output}" 2>&1\n${script}`];
  return new Promise((resolve) => {
    execFile('bash', shell, { cwd: folder, env, timeout: 60_000 }, (error) => {
      resolve({ code: error === null ? 0 : Number(error.code ?? -1), printed: readFileSync(output, 'utf8') });
    });
  });
}

describe('the commands in the documents', () => {
  let folder = '';
  let server: ServedMarketplace | undefined;
  before(async () => {
    folder = mkdtempSync(join(tmpdir(), 'marketplace-docs-'));
    for (const name of ['bin', 'src', 'node_modules', 'package.json'])
      symlinkSync(join(root, name), join(folder, name));
    mkdirSync(join(folder, 'path'));
    symlinkSync(join(root, 'bin/marketplace'), join(folder, 'path/marketplace'));
    server = await serveMarketplace(join(folder, 'data'));
  });
  after(async () => {
    await server?.stop();
    rmSync(folder, { recursive: true, force: true });
  });

  const used = new Set<Excuse>();
  for (const document of documents) {
    const commands = commandsOf(readFileSync(join(root, document), 'utf8'));
    if (commands.trim() === '') continue;
    const elsewhere = runElsewhere[document];
    if (elsewhere !== undefined) {
      test(`${document} is run by ${elsewhere}`, () => {
        assert.ok(existsSync(join(root, elsewhere)));
      });
      continue;
    }
    test(`${document}: each is run, or it is said why not`, async () => {
      assert.ok(server !== undefined);
      const { rest, used: usedHere } = withoutExcused(commands, excuses);
      for (const excuse of usedHere) used.add(excuse);
      let script = `${assumptions[document] ?? ''}\n${rest}`;
      for (const [text, instead] of substitutions(server)) script = script.replaceAll(text, instead);
      const { code, printed } = await runCommands(folder, script, {
        PATH: `${join(folder, 'path')}:${process.env.PATH}`,
        CHECKOUT: root,
        SERVER: `http://127.0.0.1:${server.port}`,
        SVC_PORT: '0',
        SVC_OPS_PORT: String(server.operationsPort),
      });
      assert.equal(code, 0, `${script}\n\n${printed}`);
      assert.doesNotMatch(printed, /"error":/, script);
    });
  }

  test('every excuse excuses something', () => {
    assert.deepEqual(
      excuses.filter((excuse) => !used.has(excuse)).map(({ why }) => why),
      [],
    );
  });
});
