import assert from 'node:assert/strict';
import { join } from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import type { Command } from 'commander';
import { exitCodesOf } from '../../src/cli/command.ts';
import { createProgram, flattenCommands, fullCommandName } from '../../src/cli/program.ts';
import { builtInVerticals } from '../../src/verticals/built-in-verticals.ts';
import { temporaryFolder } from '../support/running-marketplace.ts';
import { runMarketplace } from './run-marketplace.ts';

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

test('a usage error suggests the nearest name and the command whose help explains the options', async () => {
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
    ['keys create --account a --mode test --vertical personal-loan', /mean personal-loans\?/, ' keys create'],
    ['keys create --mode test', /: required option '--account <name>' not specified\n/, ' keys create'],
    ['capacity --keys 10', /: required option '--slo-p99 <ms>' not specified\n/, ' capacity'],
  ] as const) {
    const { code, stdout, stderr } = await runMarketplace(line.split(' '));
    assert.deepEqual([code, stdout], [2, ''], line);
    assert.match(stderr, message);
    assert.match(stderr, new RegExp(`^marketplace: [^\\n]+\\nTry: marketplace${parent} --help\\n$`));
  }
});

test('a line break in an option is escaped in the error', async () => {
  const { code, stderr } = await runMarketplace(['keys', 'list', '--x\n(Did you mean\u001b[2J']);
  assert.equal(code, 2);
  assert.match(stderr, /^marketplace: unknown option '--x\\u000a\(Did you mean\\u001b\[2J'\nTry: /);
});

test('a misspelled setting, or a misspelled value of a setting, is an error with a suggestion', async () => {
  for (const [command, settings, message] of [
    ['check-config', { SVC_LISTENER: 'nod' }, /^marketplace: SVC_LISTENER .*did you mean node\?\n$/],
    ['serve', { SVC_PROT: '1' }, /^marketplace: SVC_PROT is set, .*did you mean SVC_PORT\?\n$/],
    ['keys list', { SVC_DATA_DRI: '/x' }, /^marketplace: SVC_DATA_DRI is set, .*did you mean SVC_DATA_DIR\?\n$/],
  ] as const) {
    const { code, stdout, stderr } = await runMarketplace(command.split(' '), settings);
    assert.deepEqual([code, stdout], [1, ''], command);
    assert.match(stderr, message);
  }
});

test('with --json an error is one line of JSON on standard error', async () => {
  for (const [args, code, message] of [
    [['keys', 'list', '--json', '--jsno'], 2, /^unknown option '--jsno'; did you mean --json\?$/],
    [['help', 'serv', '--json'], 2, /^unknown command 'serv'; did you mean serve\?$/],
    [['keys', '--json'], 2, /^unknown option '--json'/],
    [['keys', 'revoke', 'key_0', '--json'], 1, /^key file .* does not exist/],
    [['log', 'verify', '--json'], 1, /^there is no log at/],
    [['analytics', 'summary', '--account', 'a', '--tag', 'abc', '--json'], 1, /^key file .* does not exist/],
  ] as const) {
    const ran = await runMarketplace(args, { SVC_DATA_DIR: '/nonexistent/folder' });
    assert.deepEqual([ran.code, ran.stdout], [code, ''], args.join(' '));
    assert.match(ran.stderr, /^\{[^\n]*\}\n$/);
    const { error } = JSON.parse(ran.stderr);
    assert.equal(error.exit_code, code);
    assert.match(error.message, message);
    assert.doesNotMatch(error.message, /\n/);
  }
});

test('a missing command is a usage error that prints the help', async () => {
  const { code, stdout, stderr } = await runMarketplace([]);
  assert.deepEqual([code, stdout], [2, '']);
  assert.match(stderr, /^Usage: marketplace/);
});

test('the version is printed to standard output', async () => {
  const { code, stdout } = await runMarketplace(['--version']);
  assert.equal(code, 0);
  assert.match(stdout, /^\d+\.\d+\.\d+\n$/);
});

test('help loads no package except commander', async () => {
  const folder = temporaryFolder();
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
