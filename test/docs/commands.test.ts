import assert from 'node:assert/strict';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { type ServedMarketplace, serveMarketplace } from '../cli/serve-marketplace.ts';
import { documents } from '../support/documents.ts';
import { problemOf } from './inline-commands.ts';
import { commandsOf, type Excuse, languagesOf, withoutExcused } from './page-commands.ts';
import {
  checkout,
  damageLedger,
  lookLikeCheckout,
  runCommands,
  type Substitution,
  substituted,
} from './run-commands.ts';

/** Lines that are not run here, all pages together. */
const excuses: readonly Excuse[] = [
  { line: /^make (run|test)\b/, why: 'the server runs already, and this is one of the tests' },
  { line: /^make check\b/, why: 'takes a minute, and CI runs it beside the tests' },
  { line: /^make demo-page\b/, why: 'serves until it is stopped; test/examples starts its program' },
  { line: /^make (bench|bench-check|capacity-check)\b/, why: 'takes minutes; test/bench runs small ones' },
  { line: /^bin\/with-node node bench\/main\.ts --(quick|only)\b/, why: 'takes minutes; test/bench runs small ones' },
  { line: /^(npm (init|install)|node program\.mjs)\b/, why: 'test/package carries them out, with the packed package' },
  { line: /^(sudo|systemctl|journalctl|docker|kubectl)\b/, why: 'belongs to the machine of an operator' },
];

/** What stands for the server of a page. */
const substitutions = (server: ServedMarketplace): readonly Substitution[] => [
  ['http://127.0.0.1:8080', `http://127.0.0.1:${server.port}`],
  ['http://127.0.0.1:9090', `http://127.0.0.1:${server.operationsPort}`],
  // A smaller history.
  ['--sessions 10000000', '--sessions 1000'],
];

/** What a page takes for granted: files of the reader's, or what an earlier page has set. */
const assumptions: Readonly<Record<string, string>> = {
  'docs/catalog.md': `cp "$CHECKOUT/src/verticals/personal-loans/example-catalog.json" offers.json`,
  'docs/confirmations.md': `printf 'click_id,txid,status,amount,occurred_at\\n' > payouts.csv`,
  'docs/ledger.md': `
    KEY=$(marketplace keys create --account acme --vertical personal-loans --mode live --raw)
    for tag in one-tag a-tag; do curl -sS $SERVER/v1/personal-loans/session -H "Authorization: Bearer $KEY" -H 'Content-Type: application/json' -d '{"referrer_tag":"'$tag'"}'; done
    marketplace backup damaged
    export SVC_DATA_DIR=damaged${damageLedger}`,
  'docs/widget.md': `
    export API=$SERVER/v1/personal-loans
    export KEY=$(marketplace keys create --account acme --vertical personal-loans --mode live --raw)
    SUB=$(curl -sS $API/session -H "Authorization: Bearer $KEY" -H 'Content-Type: application/json' -d '{"referrer_tag":"a-tag"}' | grep -oE 'sub_[0-9a-f]{64}')
    curl -sS $API/inputs -H "Authorization: Bearer $KEY" -H 'Content-Type: application/json' -d '{"sub_id":"'$SUB'","fields":{
      "loan_amount":15000,"loan_purpose":"moving","credit_score_range":"700-749","annual_income":85000,"employment_status":"employed","state":"CA"}}'`,
};

/** What blocks are written in that hold no commands. */
const notCommands = ['html', 'ini', 'json', 'mermaid', 'text', 'ts'];

const read = (document: string): string => readFileSync(join(checkout, document), 'utf8');

test('every block says what it is written in, so that no command stands in one that is not run', () => {
  const others = documents.flatMap((document) =>
    languagesOf(read(document))
      .filter((language) => language !== 'sh' && !notCommands.includes(language))
      .map((language) => `${document}: ${language === '' ? 'none' : language}`),
  );
  assert.deepEqual(others, []);
});

describe('the commands in the documents', () => {
  let folder = '';
  let server: ServedMarketplace | undefined;
  before(async () => {
    folder = mkdtempSync(join(tmpdir(), 'marketplace-docs-'));
    lookLikeCheckout(folder);
    server = await serveMarketplace(join(folder, 'data'));
  });
  after(async () => {
    await server?.stop();
    rmSync(folder, { recursive: true, force: true });
  });

  const used = new Set<Excuse>();
  for (const document of documents) {
    const commands = commandsOf(read(document));
    if (commands.trim() === '') continue;
    test(`${document}: each is run, or it is said why not`, async () => {
      assert.ok(server !== undefined);
      const { rest, excused, used: usedHere } = withoutExcused(commands, excuses);
      // What is not run is at least there.
      for (const command of excused) assert.equal((await problemOf(command)) ?? null, null, command);
      for (const excuse of usedHere) used.add(excuse);
      const script = substituted(`${assumptions[document] ?? ''}\n${rest}`, substitutions(server));
      const { code, printed } = await runCommands(folder, script, {
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
