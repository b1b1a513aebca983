import assert from 'node:assert/strict';
import { test } from 'node:test';
import { commandsOf, languagesOf, withoutExcused } from './page-commands.ts';

test('commands are what fenced sh blocks hold, also within lists', () => {
  const page = 'Text\n\n```sh\none\ntwo \\\n  three\n```\n\n1. Item\n\n   ```sh\n   four\n   ```\n\n```ts\nfive\n```\n';
  assert.equal(commandsOf(page), 'one\ntwo \\\n  three\n\nfour\n');
});

test('an excused command goes with the lines it is continued on, and nothing else does', () => {
  const excuse = { line: /^two\b/, why: '' };
  const { rest, excused, used } = withoutExcused('one\ntwo 2  # both\ntwo \\\n  three\nfour two', [
    excuse,
    { line: /^five/, why: '' },
  ]);
  assert.equal(rest, 'one\nfour two');
  assert.deepEqual(excused, ['two 2', 'two \\']);
  assert.deepEqual([...used], [excuse]);
});

test('a block tells its language, or that it has none', () => {
  const page = 'Text\n\n```sh\none\n```\n\n```\ntwo\n```\n\n1. Item\n\n   ```ts\n   three\n   ```\n';
  assert.deepEqual(languagesOf(page), ['sh', '', 'ts']);
});
