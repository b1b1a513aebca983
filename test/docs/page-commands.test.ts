import assert from 'node:assert/strict';
import { test } from 'node:test';
import { commandsOf, withoutExcused } from './page-commands.ts';

test('commands are what fenced sh blocks hold, also within lists', () => {
  const page = 'Text\n\n```sh\none\ntwo \\\n  three\n```\n\n1. Item\n\n   ```sh\n   four\n   ```\n\n```ts\nfive\n```\n';
  assert.equal(commandsOf(page), 'one\ntwo \\\n  three\n\nfour\n');
});

test('an excused command goes with the lines it is continued on, and nothing else does', () => {
  const excuse = { line: /^two\b/, why: '' };
  const { rest, used } = withoutExcused('one\ntwo \\\n  three\nfour two', [excuse, { line: /^five/, why: '' }]);
  assert.equal(rest, 'one\nfour two');
  assert.deepEqual([...used], [excuse]);
});
