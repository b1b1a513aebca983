import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import Database from 'better-sqlite3';
import { describeError } from '../../src/logging/describe-error.ts';

const secret = 'zq7-jane-doe-1987';

function thrownBy(action: () => unknown): unknown {
  try {
    action();
  } catch (error) {
    return error;
  }
  return assert.fail('nothing was thrown');
}

const errorsWithInput: Readonly<Record<string, () => unknown>> = {
  'JSON.parse': () => JSON.parse(secret),
  'JSON.parse of a long text': () => JSON.parse(`{"a": "${'x'.repeat(50)}", ${secret}`),
  'new URL': () => new URL(secret),
  BigInt: () => BigInt(secret),
  'a property of undefined': () => (undefined as unknown as Record<string, unknown>)[secret],
  'an argument of Node.js': () => Buffer.from('', secret as BufferEncoding),
  'a header of Node.js': () => new Headers({ [`${secret}\n`]: 'x' }),
  'a regular expression': () => new RegExp(`(${secret}`),
  'a message with lines that look like frames': () => {
    throw new TypeError(`oh\n    at ${secret} (file:///${secret}.ts:1:1)`);
  },
  'properties of an exception': () => {
    throw Object.assign(new Error('no'), { input: secret, [secret]: 1, code: secret });
  },
  'a string thrown': () => {
    throw secret;
  },
  'an object thrown': () => {
    throw { message: secret };
  },
  'a cause': () => {
    throw new Error('a step failed', { cause: thrownBy(() => JSON.parse(secret)) });
  },
  'an AggregateError': () => {
    throw new AggregateError([thrownBy(() => new URL(secret)), secret], secret);
  },
};

for (const [name, action] of Object.entries(errorsWithInput)) {
  test(`removes input values from an error message: ${name}`, () => {
    const thrown = thrownBy(action);
    const described = describeError(thrown);
    assert.ok(!JSON.stringify(described).includes('zq7'), JSON.stringify(described));
    if (thrown instanceof Error) assert.match(described.stack?.at(-1) ?? '', /^at /);
  });
}

test('the description of an error from this project, the operating system or SQLite contains its message', () => {
  const own = describeError(new Error('a step failed', { cause: thrownBy(() => readFileSync('/no/such/file')) }));
  assert.equal(own.message, 'a step failed');
  assert.match(own.stack?.[0] ?? '', /describe-error\.test\.ts:\d+/);
  assert.equal(own.cause?.code, 'ENOENT');
  assert.match(own.cause?.message ?? '', /no such file.*\/no\/such\/file/);
  const database = new Database(':memory:');
  const sqlite = describeError(thrownBy(() => database.prepare('SELECT missing')));
  assert.deepEqual(
    [sqlite.type, sqlite.code, sqlite.message],
    ['SqliteError', 'SQLITE_ERROR', 'no such column: missing'],
  );
  database.close();
});

test('truncates a circular chain of error causes', () => {
  const error = new Error('circular');
  error.cause = error;
  assert.ok(JSON.stringify(describeError(error)).length < 10_000);
});
