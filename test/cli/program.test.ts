import assert from 'node:assert/strict';
import { test } from 'node:test';
import { runMarketplace } from './run-marketplace.ts';

for (const path of [
  [],
  ['serve'],
  ['keys'],
  ['keys', 'create'],
  ['keys', 'list'],
  ['keys', 'revoke'],
  ['origins'],
  ['origins', 'allow'],
  ['origins', 'remove'],
  ['origins', 'list'],
  ['catalog'],
  ['catalog', 'validate'],
  ['catalog', 'stats'],
  ['catalog', 'generate'],
  ['log'],
  ['log', 'verify'],
  ['log', 'inspect'],
  ['log', 'repair'],
  ['analytics'],
  ['analytics', 'rebuild'],
  ['confirm'],
  ['check-config'],
]) {
  test(`the help of ${['marketplace', ...path].join(' ')} has examples and exit codes`, async () => {
    const { code, stdout, stderr } = await runMarketplace([...path, '--help']);
    assert.deepEqual([code, stderr], [0, '']);
    assert.match(stdout, /^Usage: marketplace/);
    assert.match(stdout, /\nExamples:\n {2}\$ /);
    assert.match(stdout, /\nExit codes:\n {2}0 /);
  });
}

test('a misspelt command is a usage error that proposes the right one', async () => {
  const { code, stdout, stderr } = await runMarketplace(['keys', 'craete']);
  assert.deepEqual([code, stdout], [2, '']);
  assert.match(stderr, /Did you mean create\?/);
});

test('a misspelt option is a usage error that proposes the right one', async () => {
  const { code, stderr } = await runMarketplace(['keys', 'list', '--jsno']);
  assert.equal(code, 2);
  assert.match(stderr, /Did you mean --json\?/);
});

test('no command at all is a usage error that shows the help', async () => {
  const { code, stdout, stderr } = await runMarketplace([]);
  assert.deepEqual([code, stdout], [2, '']);
  assert.match(stderr, /^Usage: marketplace/);
});

test('the version goes to standard output', async () => {
  const { code, stdout } = await runMarketplace(['--version']);
  assert.equal(code, 0);
  assert.match(stdout, /^\d+\.\d+\.\d+\n$/);
});
