import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import type { Command } from 'commander';
import { exitCodesOf } from '../../src/cli/command.ts';
import { createProgram, flattenCommands, fullCommandName } from '../../src/cli/program.ts';
import { builtInVerticals } from '../../src/verticals/built-in-verticals.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';
import { assertFailed, runMarketplace } from './run-marketplace.ts';

const commands = flattenCommands(await createProgram('0.0.0', async () => builtInVerticals));
const checkout = fileURLToPath(new URL('../..', import.meta.url));

function printedHelp(command: Command): string {
  let text = '';
  command.configureOutput({
    getOutHasColors: () => false,
    getOutHelpWidth: () => 80,
    writeOut: (part) => {
      text += part;
    },
  });
  command.outputHelp();
  return text;
}

for (const command of commands) {
  test(`the help of ${fullCommandName(command)} has a description, examples and exit codes`, () => {
    const text = printedHelp(command);
    assert.match(text, /^Usage: marketplace/);
    assert.ok(command.description().length > 20 && text.includes(command.description().slice(0, 20)));
    assert.match(text, /\nExamples:\n {2}\$ .*\n/);
    assert.match(text, /\nExit codes:\n {2}0 /);
    const isLeaf = command.commands.length === 0;
    assert.equal(
      command.options.some(({ long }) => long === '--json'),
      isLeaf && command.name() !== 'serve',
    );
    assert.equal(text.includes('\nWith --json:\n'), isLeaf && command.name() !== 'serve');
    assert.ok(exitCodesOf(command).some(([code]) => code === 2));
    for (const { description } of [...command.options, ...command.registeredArguments])
      assert.notEqual(description, '');
  });
}

test('help is printed to standard output, also for subcommands', async () => {
  const help = await runMarketplace(['keys', 'create', '--help']);
  assert.deepEqual([help.code, help.stderr], [0, '']);
  for (const words of [
    ['help', 'keys', 'create'],
    ['keys', 'help', 'create'],
  ]) {
    assert.deepEqual(await runMarketplace(words), help);
  }
  assert.deepEqual(await runMarketplace(['help', 'help']), await runMarketplace(['--help']));
});

const createKey = 'keys create --account acme --vertical personal-loans --mode test';

test('a usage error explains the allowed values or suggests the nearest name, names the command with help, and changes nothing', async (t) => {
  const settings = { SVC_DATA_DIR: join(temporaryFolder(t), 'data') };
  for (const [line, message, parent] of [
    ['help serv', /unknown command 'serv'; did you mean serve\?\n/, ''],
    ['hlep keys', /unknown command 'hlep'; did you mean help\?\n/, ''],
    ['keys craete', /; did you mean create\?\n/, ' keys'],
    ['help keys crate', /unknown command 'crate'; did you mean create\?\n/, ' keys'],
    ['keys help crate', /unknown command 'crate'; did you mean create\?\n/, ' keys'],
    ['keys crate --help', /unknown command 'crate'; did you mean create\?\n/, ' keys'],
    ['help secret rotate now', /unknown command 'now'\n/, ' secret rotate'],
    ['keys list --jsno', /; did you mean --json\?\n/, ' keys list'],
    ['keys create --acount x', /; did you mean --account\?\n/, ' keys create'],
    ['capacity --keys 10 --slo-p9 50', /; did you mean --slo-p99\?\n/, ' capacity'],
    ['analytics daily --account a --tag abc --mode tset', /live, test\. Did you mean test\?\n/, ' analytics daily'],
    ['experiments close a-test --key-file f --outcome brokn', /Did you mean broken\?\n/, ' experiments close'],
    ['experiments create a-test --key-file f --unit visitors', /Did you mean visitor\?\n/, ' experiments create'],
    ['experiments create a-test --key-file f --assignment hsh', /Did you mean hash\?\n/, ' experiments create'],
    ['keys create --account a --mode test --vertical personal-loan', /mean personal-loans\?/, ' keys create'],
    ['keys create --mode test', /: required option '--account <name>' not specified\n/, ' keys create'],
    ['keys create --account a --mode test', /: required option '--vertical <segment>' not/, ' keys create'],
    ['keys create --account a --vertical banking', /: required option '--mode <mode>' not/, ' keys create'],
    [`${createKey} --expires 2020-01-01`, /'--expires <when>' .* must be in the future/, ' keys create'],
    [`${createKey} --expires soon`, /'--expires <when>' .* must be a date like/, ' keys create'],
    [`${createKey} --requests-per-minute 0`, /'--requests-per-minute <n>' .* from 1 to /, ' keys create'],
    [`${createKey} --sessions-per-day 1e3`, /'--sessions-per-day <n>' .* from 1 to /, ' keys create'],
    [`${createKey} --analytics-per-minute 1000001`, /'--analytics-per-minute <n>' .* to 1000000\.\n/, ' keys create'],
    [`${createKey} --account a\u0007b`, /'--account <name>' .*printable characters/, ' keys create'],
    ['origins allow https://shop.example', /required option '--account <name>' not specified/, ' origins allow'],
    ['origins remove --account acme', /missing required argument 'origin'/, ' origins remove'],
    ['analytics daily --account a --tag abc --from 2026-02-30', /must be a date like/, ' analytics daily'],
    ['analytics sessions --account a --tag Hero', /lower-case/, ' analytics sessions'],
    ['log repair', /one of the options '--cut <file:offset>', .* is required/, ' log repair'],
    ['log repair --cut a:1 --accept-missing-journal', /cannot be used with option/, ' log repair'],
    ...['file', 'file:x', ':3'].map((cut) => [`log repair --cut ${cut}`, /must look like /, ' log repair'] as const),
    ['confirm a.txt', /must end with \.csv/, ' confirm'],
    ['confirm a.csv --url localhost:9090', /must be an http or https URL/, ' confirm'],
    ['confirm', /missing required argument 'file'/, ' confirm'],
    ['capacity --keys 10', /: required option '--slo-p99 <ms>' not specified\n/, ' capacity'],
    ['capacity --slo-p99 50 --keys 0', /integer from 1/, ' capacity'],
    ['capacity --keys 1 --slo-p99 0', /number of milliseconds, more than 0/, ' capacity'],
    ['capacity --keys 1 --slo-p99 fast', /number of milliseconds, more than 0/, ' capacity'],
    ['capacity --keys 1 --slo-p99 50 --headroom 100', /from 0 to less than 100/, ' capacity'],
  ] as const) {
    const ran = await runMarketplace(line.split(' '), settings);
    assertFailed(ran, 2, message);
    assert.match(ran.stderr, new RegExp(`^marketplace: [^\\n]+\\nTry: marketplace${parent} --help\\n$`));
  }
  assert.ok(!existsSync(settings.SVC_DATA_DIR));
});

test('a line break in an option is escaped in the error', async () => {
  const { code, stderr } = await runMarketplace(['keys', 'list', '--x\n(Did you mean\u001b[2J']);
  assert.equal(code, 2);
  assert.match(stderr, /^marketplace: unknown option '--x\\u000a\(Did you mean\\u001b\[2J'\nTry: /);
});

test('an invalid setting is an error, with a suggestion for a misspelled name or value', async () => {
  for (const [command, settings, message] of [
    ['check-config', { SVC_LISTENER: 'nod' }, /^marketplace: SVC_LISTENER .*did you mean node\?\n$/],
    ['serve', { SVC_PROT: '1' }, /^marketplace: SVC_PROT is set, .*did you mean SVC_PORT\?\n$/],
    ['serve', { SVC_PORT: '99999' }, /^marketplace: SVC_PORT is "99999"; it must be an integer from 0 to 65535\n$/],
    ['check-config', { SVC_PORT: '99999' }, /^marketplace: SVC_PORT is "99999"; [^\n]+\n$/],
    ['keys list', { SVC_DATA_DRI: '/x' }, /^marketplace: SVC_DATA_DRI is set, .*did you mean SVC_DATA_DIR\?\n$/],
  ] as const) {
    assertFailed(await runMarketplace(command.split(' '), settings), 1, message);
  }
});

test('with --json an error is one line of JSON on standard error', async () => {
  for (const [args, code, message] of [
    [['keys', 'list', '--json', '--jsno'], 2, /^unknown option '--jsno'; did you mean --json\?$/],
    [['help', 'serv', '--json'], 2, /^unknown command 'serv'; did you mean serve\?$/],
    [[...createKey.split(' '), '--raw', '--json'], 2, /^option '--json' cannot be used with option '--raw'$/],
    [['keys', '--json'], 2, /^unknown option '--json'/],
    [['keys', 'revoke', 'key_0', '--json'], 1, /^key file .* does not exist/],
    [['log', 'verify', '--json'], 1, /^there is no log at/],
    [['analytics', 'summary', '--account', 'a', '--tag', 'abc', '--json'], 1, /^key file .* does not exist/],
  ] as const) {
    const ran = await runMarketplace(args, { SVC_DATA_DIR: '/nonexistent/folder' });
    assertFailed(ran, code, /^\{[^\n]*\}\n$/);
    const { error } = JSON.parse(ran.stderr);
    assert.equal(error.exit_code, code);
    assert.match(error.message, message);
    assert.doesNotMatch(error.message, /\n/);
  }
});

test('a missing command is a usage error that prints the help', async () => {
  assertFailed(await runMarketplace([]), 2, /^Usage: marketplace/);
});

test('the version is printed to standard output', async () => {
  const { code, stdout } = await runMarketplace(['--version']);
  assert.equal(code, 0);
  assert.match(stdout, /^\d+\.\d+\.\d+\n$/);
});

test('help loads no package except commander', async (t) => {
  const folder = temporaryFolder(t);
  const hooks = `import { registerHooks } from 'node:module';
    const packages = new Set();
    registerHooks({ load(url, context, next) {
      const name = /node_modules\\/((?:@[^/]+\\/)?[^/]+)/.exec(url)?.[1];
      if (name !== undefined) packages.add(name);
      return next(url, context);
    } });
    process.on('exit', () => console.error([...packages].join()));`;
  const args = [
    '--import',
    `data:text/javascript,${encodeURIComponent(hooks)}`,
    join(checkout, 'src/cli/main.ts'),
    '--help',
  ];
  const { code, stderr } = await runMarketplace(args, {}, { command: process.execPath, folder });
  assert.deepEqual([code, stderr], [0, 'commander\n']);
});
