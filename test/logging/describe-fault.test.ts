import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import Database from 'better-sqlite3';
import { describeError } from '../../src/logging/describe-error.ts';

const secret = 'zq7-jane-doe-1987';

function thrownBy(fault: () => unknown): unknown {
  try {
    fault();
  } catch (thrown) {
    return thrown;
  }
  return assert.fail('nothing was thrown');
}

const quoting: Readonly<Record<string, () => unknown>> = {
  'JSON.parse': () => JSON.parse(secret),
  'JSON.parse of a long text': () => JSON.parse(`{"a": "${'x'.repeat(50)}", ${secret}`),
  'new URL': () => new URL(secret),
  BigInt: () => BigInt(secret),
  'a property of nothing': () => (undefined as unknown as Record<string, unknown>)[secret],
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
  'several at once': () => {
    throw new AggregateError([thrownBy(() => new URL(secret)), secret], secret);
  },
};

for (const [what, fault] of Object.entries(quoting)) {
  test(`what an exception quotes is not described: ${what}`, () => {
    const thrown = thrownBy(fault);
    const described = describeError(thrown);
    assert.ok(!JSON.stringify(described).includes('zq7'), JSON.stringify(described));
    if (thrown instanceof Error) assert.match(described.at?.at(-1) ?? '', /^at /);
  });
}

test('what our own code, the system and SQLite say of a fault is told, with its place', () => {
  const own = describeError(new Error('a step failed', { cause: thrownBy(() => readFileSync('/no/such/file')) }));
  assert.equal(own.message, 'a step failed');
  assert.match(own.at?.[0] ?? '', /describe-fault\.test\.ts:\d+/);
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

test('a chain of causes that leads back to itself comes to an end', () => {
  const fault = new Error('round');
  fault.cause = fault;
  assert.ok(JSON.stringify(describeError(fault)).length < 10_000);
});
