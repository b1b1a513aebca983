import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import type { Server } from 'node:http';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { getCommandHelp } from '../../src/cli/command.ts';
import { createProgram, flattenCommands, fullCommandName } from '../../src/cli/program.ts';
import { createMarketplace } from '../../src/index.ts';
import { builtInVerticals } from '../../src/verticals/built-in-verticals.ts';
import { type ServedMarketplace, serveMarketplace } from '../cli/served-process.ts';
import { ok } from '../embedded/embedded-marketplace.ts';
import { documents } from '../support/documents.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';
import { personalLoansFixture } from '../support/vertical-fixtures.ts';
import { problemOf } from './inline-commands.ts';
import {
  checkout,
  commandsOf,
  damageLedger,
  hostCommands,
  languagesOf,
  prepareCheckout,
  runCommands,
  type SkippedLine,
  type Substitution,
  substituted,
  withoutSkipped,
} from './run-commands.ts';

const noJq = spawnSync('jq', ['--version']).status !== 0;

/** Lines of documents and help texts that these tests do not run. */
const skippedLines: readonly SkippedLine[] = [
  { line: /^git clone\b/, why: 'the commands run in a checkout' },
  { line: /^make (run|test)\b/, why: 'the server runs already, and this is one of the tests' },
  { line: /^make check\b/, why: 'takes a minute, and CI runs it beside the tests' },
  { line: /^make demo-page\b/, why: 'serves until it is stopped; test/examples starts its program' },
  { line: /^make demo-console\b/, why: 'serves until it is stopped; test/bench/demo-console starts its program' },
  { line: /^make (bench|bench-check|capacity-check)\b/, why: 'takes minutes; test/bench runs small ones' },
  {
    line: /^bin\/with-node node bench\/main\.ts --(quick|only|publish)\b/,
    why: 'takes minutes; test/bench runs small ones',
  },
  { line: /^(npm (init|install)|node program\.mjs)\b/, why: 'test/package carries them out, with the packed package' },
  { line: /^(sudo|systemctl|journalctl|docker|kubectl)\b/, why: 'belongs to the machine of an operator' },
  { line: /^marketplace capacity .*--check/, why: 'takes minutes; test/bench runs a small one' },
  ...(noJq ? [{ line: /^.*\| jq\b/, why: 'jq is missing; bin/install-test-tools tries to install it' }] : []),
];
const usedSkips = new Set<SkippedLine>();

/** Documents whose commands run `bin/marketplace` in its own process, as a reader does. */
const withRealProcesses = ['README.md', 'docs/widget.md'];

/** Waits for the server to learn of a new key, because the server looks for unknown keys only a few times per second. */
const untilKeyIsKnown =
  'until curl -fsS -o tags.json $SERVER/v1/personal-loans/tags -H "Authorization: Bearer $KEY" 2> tags.log; do sleep 0.1; done';

/** Commands to run before the commands of a document. They create files and variables that the document requires. */
const documentPreparations: Readonly<Record<string, string>> = {
  'docs/catalog.md': `cp "$CHECKOUT/src/verticals/personal-loans/example-catalog.json" offers.json`,
  'docs/confirmations.md': `printf 'click_id,txid,status,amount,occurred_at\\n' > payouts.csv`,
  'docs/experiments.md': `
    export API=$SERVER/v1/personal-loans
    export KEY=$(marketplace keys create --account acme --vertical personal-loans --mode live --raw)
    ${untilKeyIsKnown}`,
  'docs/ledger.md': `
    KEY=$(marketplace keys create --account acme --vertical personal-loans --mode live --raw)
    ${untilKeyIsKnown}
    for tag in one-tag a-tag; do curl -sS $SERVER/v1/personal-loans/session -H "Authorization: Bearer $KEY" -H 'Content-Type: application/json' -d '{"referrer_tag":"'$tag'"}'; done
    marketplace backup damaged
    export SVC_DATA_DIR=damaged${damageLedger}`,
  'docs/widget.md': `
    export API=$SERVER/v1/personal-loans
    export KEY=$(marketplace keys create --account acme --vertical personal-loans --mode live --raw)
    ${untilKeyIsKnown}
    SUB=$(curl -sS $API/session -H "Authorization: Bearer $KEY" -H 'Content-Type: application/json' -d '{"referrer_tag":"a-tag"}' | grep -oE 'sub_[0-9a-f]{64}')
    curl -sS $API/inputs -H "Authorization: Bearer $KEY" -H 'Content-Type: application/json' -d '{"sub_id":"'$SUB'","fields":{
      "loan_amount":15000,"loan_purpose":"moving","credit_score_range":"700-749","annual_income":85000,"employment_status":"employed","state":"CA"}}'`,
};

/** Commands to run before the examples in the help of a command. */
const helpPreparations: Readonly<Record<string, string>> = {
  // The server runs in the foreground, so the test stops the server when it serves.
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
  'marketplace experiments create': `
    export SVC_PUBLIC_URL=$SERVER
    SVC_DATA_DIR=../documents/data marketplace keys create --account acme --vertical personal-loans --mode live --raw > partner.key
    echo '{ "arms": [{ "referrer_tag": "page-a", "weight": 0.5 }, { "referrer_tag": "page-b", "weight": 0.5 }], "control": "page-a" }' > experiment.json`,
  'marketplace experiments close': `
    export SVC_PUBLIC_URL=$SERVER
    SVC_DATA_DIR=../documents/data marketplace keys create --account acme --vertical personal-loans --mode live --raw > partner.key
    marketplace experiments create first-form --key-file partner.key --arm other-form=0.5 --arm form-b=0.5`,
  'marketplace confirm': `cp data/operator-token .`,
  'marketplace log verify': `cp -r data backup/`,
  'marketplace log repair': `export SVC_DATA_DIR=data${damageLedger}`,
  'marketplace secret rotate': `cp data/secrets.json etc/marketplace/`,
};

/** Languages of blocks that contain no commands. */
const notCommands = ['caddyfile', 'html', 'ini', 'json', 'mermaid', 'nginx', 'python', 'text', 'ts'];

const read = (document: string): string => readFileSync(join(checkout, document), 'utf8');

test('every code block of the documents names its language, and only sh blocks contain commands', () => {
  const others = documents.flatMap((document) =>
    languagesOf(read(document))
      .filter((language) => language !== 'sh' && !notCommands.includes(language))
      .map((language) => `${document}: ${language === '' ? 'none' : language}`),
  );
  assert.deepEqual(others, []);
});

/** Writes the data of a service in which a lender has confirmed a click, and the files that the help texts name. */
async function writeReaderFiles(folder: string): Promise<void> {
  for (const name of ['backup', 'var/lib/marketplace', 'etc/marketplace'])
    mkdirSync(join(folder, name), { recursive: true });
  cpSync(join(checkout, 'src/verticals/personal-loans/example-catalog.json'), join(folder, 'offers.json'));
  const marketplace = await createMarketplace({ dataDir: join(folder, 'data'), urls: { click: 'https://go.example' } });
  try {
    const { key } = marketplace.keys.create({ account: 'acme', vertical: 'personal-loans', mode: 'live' });
    marketplace.origins.allow('acme', 'https://shop.example.com');
    const partner = marketplace.partnerApi(key);
    const arms = ['hero-long-form', 'hero-short-form'].map((referrer_tag) => ({ referrer_tag, weight: 0.5 }));
    const starts_on = new Date().toISOString().slice(0, 10);
    ok(
      await partner.defineExperiment({
        name: 'hero-test',
        arms,
        control: 'hero-long-form',
        unit: 'session',
        starts_on,
      }),
    );
    const { sub_id } = ok(await partner.createSession({ referrer_tag: 'hero-short-form' }));
    ok(await partner.submitInputs({ sub_id, fields: personalLoansFixture.complete }));
    const { offers } = ok(await partner.getMarketplace({ sub_id }));
    const visit = await marketplace.followClick(offers[0]!.click_url);
    assert.ok(visit.kind === 'redirect');
    const click_id = [...new URL(visit.location).searchParams.values()].find((value) => value.length > 60)!;
    const occurred_at = new Date().toISOString();
    const row = { click_id, txid: 'tx-1', status: 'funded', amount: 40, occurred_at } as const;
    ok(await marketplace.confirmations.submit([row]));
    // The answer includes the experiment only when the analytics store does.
    ok(await partner.getExperiment({ name: 'hero-test' }));
    const more = { ...row, txid: 'tx-2' };
    writeFileSync(join(folder, 'payouts.csv'), `${Object.keys(more)}\n${Object.values(more)}\n`);
    writeFileSync(join(folder, 'payouts.ndjson'), `${JSON.stringify({ ...more, txid: 'tx-3' })}\n`);
  } finally {
    await marketplace.close();
  }
}

const endOfAnswer = '--- end of answer ---';

/** Checks an answer in a document, which may omit members of objects. `...` in a text stands for any characters. */
function assertShown(shown: string, answer: string): void {
  const compare = (part: unknown, whole: unknown, path: string): void => {
    if (typeof part === 'string') assertTextShown(part, String(whole));
    else if (typeof part !== 'object' || part === null) assert.deepEqual(whole, part, path);
    else {
      for (const [name, member] of Object.entries(part)) {
        assert.ok(Object(whole)[name] !== undefined, `${path}.${name} is not in ${answer}`);
        compare(member, Object(whole)[name], `${path}.${name}`);
      }
    }
  };
  if (shown.startsWith('{')) compare(JSON.parse(shown), JSON.parse(answer), '');
  else assertTextShown(shown, answer);
}

function assertTextShown(shown: string, actual: string): void {
  const timestamp = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/;
  if (timestamp.test(shown)) {
    assert.match(actual, timestamp);
    return;
  }
  const pattern = shown.split('...').map((text) => text.replaceAll(/[.*+?^${}()|[\]\\]/g, '\\$&'));
  assert.match(actual, new RegExp(`^${pattern.join('.*')}$`));
}

const program = await createProgram('', async () => builtInVerticals);
const commands = flattenCommands(program).filter((command) => command.commands.length === 0);

test('the examples in the help of marketplace are valid commands', async () => {
  for (const example of getCommandHelp(program).examples) assert.equal(await problemOf(example), null, example);
});

test('docs/command-line.md lists every command', () => {
  const listed = [...read('docs/command-line.md').matchAll(/^\| `(marketplace [a-z -]+)` \|/gm)].map(
    ([, name]) => name,
  );
  assert.deepEqual(listed, commands.map(fullCommandName));
});

describe('the commands of the documentation', () => {
  const root = temporaryFolder();
  const [folder, readerFiles, socket] = [join(root, 'documents'), join(root, 'reader'), join(root, 'commands.sock')];
  let server: ServedMarketplace | undefined;
  /** Server with a test clock, which the tour starts. */
  let rehearsal: ServedMarketplace | undefined;
  let commandHost: Server | undefined;
  before(async () => {
    for (const each of [folder, readerFiles]) {
      mkdirSync(each);
      prepareCheckout(each);
    }
    commandHost = await hostCommands(socket);
    await writeReaderFiles(readerFiles);
    server = await serveMarketplace(join(folder, 'data'));
    rehearsal = await serveMarketplace(join(folder, 'rehearsal'), { SVC_TEST_CLOCK: 'on' });
  });
  after(async () => {
    await server?.stop();
    await rehearsal?.stop();
    commandHost?.close();
  });

  /** Replacements for the addresses of the documents and the examples. */
  const substitutionsFor = ({ port, operationsPort }: ServedMarketplace): readonly Substitution[] => [
    ['http://127.0.0.1:8080', `http://127.0.0.1:${port}`],
    ['http://127.0.0.1:9090', `http://127.0.0.1:${operationsPort}`],
    ['http://127.0.0.1:8081', `http://127.0.0.1:${rehearsal!.port}`],
    ['http://127.0.0.1:9091', `http://127.0.0.1:${rehearsal!.operationsPort}`],
    ['SVC_PORT=9000', 'SVC_PORT=0'],
    ['key_0123456789ab', '$KEY_ID'],
    // Smaller numbers of sessions and of rounds.
    ['--sessions 10000000', '--sessions 1000'],
    ['node bench/pacing/main.ts', 'node bench/pacing/main.ts --rounds 1'],
  ];

  async function assertRuns(where: string, preparation: string, lines: string, settings: Record<string, string>) {
    const { rest, skipped, used } = withoutSkipped(lines, skippedLines);
    // A skipped line must at least be a valid command.
    for (const command of skipped) assert.equal((await problemOf(command)) ?? null, null, command);
    for (const each of used) usedSkips.add(each);
    const script = substituted(`${preparation}\n${rest}`, substitutionsFor(server!));
    const { code, printed } = await runCommands(where, script, {
      SERVER: `http://127.0.0.1:${server!.port}`,
      SVC_PORT: '0',
      SVC_OPS_PORT: String(server!.operationsPort),
      SVC_MATCHER_THREADS: '0',
      ...settings,
    });
    assert.equal(code, 0, `${script}\n\n${printed}`);
    // `jq` prints null for a missing member.
    assert.doesNotMatch(printed, /"error":|^null$/m, script);
  }

  for (const document of documents) {
    const lines = commandsOf(read(document));
    if (lines.trim() === '') continue;
    test(`${document}: every command succeeds or is listed as skipped`, () =>
      assertRuns(folder, documentPreparations[document] ?? '', lines, {
        COMMANDS: withRealProcesses.includes(document) ? '' : socket,
      }));
  }

  test('docs/tour.md: every answer that the tour shows equals the answer of the server', async () => {
    const tour = read('docs/tour.md').replaceAll(/```(?:json|text)\n([\s\S]*?)```/g, '```sh\necho "$SHOWN"\n```');
    const shown = [...read('docs/tour.md').matchAll(/```(?:json|text)\n([\s\S]*?)```/g)].map(([, text]) => text!);
    const script = substituted(commandsOf(tour), substitutionsFor(server!));
    // The tour reads the operator's token from `data/`, and its figures are those of an account without other traffic.
    const account = script.replaceAll('--account demo', '--account tour');
    const { code, printed } = await runCommands(folder, account, { COMMANDS: socket, SHOWN: endOfAnswer });
    assert.equal(code, 0, printed);
    const answers = printed.split(endOfAnswer).slice(0, -1);
    assert.equal(answers.length, shown.length);
    const { port } = server!;
    for (const [at, text] of shown.entries()) {
      const answer = answers[at]!.replaceAll(`127.0.0.1:${port}`, '127.0.0.1:8080').trim();
      assertShown(text.trim(), answer);
    }
  });

  for (const each of commands) {
    const command = fullCommandName(each);
    test(`the examples in the help of ${command} succeed`, async () => {
      const lines = getCommandHelp(each).examples.join('\n').replaceAll('10.0.0.5:9090', '127.0.0.1:$SVC_OPS_PORT');
      const where = mkdtempSync(join(root, 'help-'));
      cpSync(readerFiles, where, { recursive: true, verbatimSymlinks: true });
      // The example confirms clicks in the copied data folder, so the test starts a server on that folder.
      const confirming = command === 'marketplace confirm' ? await serveMarketplace(join(where, 'data')) : null;
      try {
        const settings = { COMMANDS: socket, SVC_OPS_PORT: String(confirming?.operationsPort ?? 0) };
        await assertRuns(where, helpPreparations[command] ?? '', lines, settings);
      } finally {
        await confirming?.stop();
      }
    });
  }

  test('helpPreparations and skippedLines contain no obsolete entries', () => {
    const known = commands.map(fullCommandName);
    const unusedPreparations = Object.keys(helpPreparations).filter((command) => !known.includes(command));
    const unusedSkips = skippedLines.filter((each) => !usedSkips.has(each)).map(({ why }) => why);
    assert.deepEqual([unusedPreparations, unusedSkips], [[], []]);
  });
});
