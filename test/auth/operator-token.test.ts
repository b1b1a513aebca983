import assert from 'node:assert/strict';
import { mkdirSync, renameSync, rmSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { type TestContext, test } from 'node:test';
import { OperatorToken, operatorTokenPath, readOperatorToken } from '../../src/auth/operator-token.ts';
import { bounds } from '../../src/bounds.ts';
import { SecretFileError } from '../../src/secrets/secret-file.ts';
import { ManualClock } from '../support/manual-clock.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';

const pathFor = (t: TestContext) => operatorTokenPath(temporaryFolder(t));
const open = (path: string) => new OperatorToken({ path, clock: new ManualClock() });
const textOf = (digit: string) => `svc_operator_${digit.repeat(64)}`;

test('creates a private operator token file at the first start only', (t) => {
  const path = pathFor(t);
  const first = open(path);
  assert.equal(first.isNew, true);
  assert.equal(statSync(path).mode & 0o777, 0o600);
  const text = readOperatorToken(path);
  assert.match(text, /^svc_operator_[0-9a-f]{64}$/);
  assert.ok(first.matchesAuthorizationHeader(`Bearer ${text}`));
  const second = open(path);
  assert.equal(second.isNew, false);
  assert.ok(second.matchesAuthorizationHeader(`Bearer ${text}`));
  assert.equal(open(pathFor(t)).matchesAuthorizationHeader(`Bearer ${text}`), false);
});

test('accepts only the operator token as a bearer token', (t) => {
  const path = pathFor(t);
  const token = open(path);
  const text = readOperatorToken(path);
  const wrong = [`Basic ${text}`, `Bearer ${text}0`, `Bearer ${text} x`, `Bearer${text}`, 'Bearer x'];
  for (const header of ['', text, ...wrong]) {
    assert.equal(token.matchesAuthorizationHeader(header), false, header.replace(text, '(the token)'));
  }
});

test('rejects an operator token file without a token, and the error does not contain the file content', (t) => {
  const path = pathFor(t);
  for (const content of ['', 'secret', 'svc_operator_12\n', `svc_operator_${'A'.repeat(64)}`]) {
    writeFileSync(path, content);
    assert.throws(
      () => open(path),
      (error: unknown) => {
        assert.ok(error instanceof SecretFileError && error.message.includes(path));
        return content === '' || !error.message.includes(content.trim());
      },
    );
  }
});

/** Contents of the file after a change, with whether a token is then valid. */
const replacements: readonly (readonly [title: string, replace: (path: string) => void, valid: string | null])[] = [
  ['another token', (path) => writeFileSync(path, `${textOf('2')}\n`), textOf('2')],
  [
    'another token by a rename',
    (path) => {
      writeFileSync(`${path}.new`, textOf('2'));
      renameSync(`${path}.new`, path);
    },
    textOf('2'),
  ],
  [
    'a link to another token',
    (path) => {
      writeFileSync(`${path}.new`, textOf('2'));
      rmSync(path);
      symlinkSync(`${path}.new`, path);
    },
    textOf('2'),
  ],
  ['the same token', (path) => writeFileSync(path, `  ${textOf('1')}\n\n`), textOf('1')],
  ['no file', (path) => rmSync(path), null],
  ['an empty file', (path) => writeFileSync(path, ''), null],
  ['a part of the token', (path) => writeFileSync(path, textOf('1').slice(0, -1)), null],
  ['two tokens', (path) => writeFileSync(path, `${textOf('1')}\n${textOf('2')}\n`), null],
  ['too many bytes', (path) => writeFileSync(path, textOf('1').padEnd(bounds.operatorTokenFileBytesMax + 1)), null],
  [
    'a folder',
    (path) => {
      rmSync(path);
      mkdirSync(path);
    },
    null,
  ],
  [
    'a link to no file',
    (path) => {
      rmSync(path);
      symlinkSync(`${path}.new`, path);
    },
    null,
  ],
];

for (const [title, replace, valid] of replacements) {
  test(`after the file was replaced by ${title}, only a token of the file is valid`, (t) => {
    const path = pathFor(t);
    writeFileSync(path, textOf('1'));
    const clock = new ManualClock();
    const events: string[] = [];
    const token = new OperatorToken({
      path,
      clock,
      onUnusable: () => events.push('unusable'),
      onReloaded: () => events.push('reloaded'),
    });
    const hashes = () => [textOf('1'), textOf('2')].map((text) => token.findHash(text));
    const [hash] = hashes();
    replace(path);
    assert.deepEqual(hashes(), [hash, null]);
    clock.advance(bounds.operatorTokenReadIntervalMs);
    assert.equal(token.isCurrentHash(hash!), valid === textOf('1'));
    assert.deepEqual(
      hashes().map((found) => found !== null),
      [valid === textOf('1'), valid === textOf('2')],
    );
    clock.advance(bounds.operatorTokenReadIntervalMs);
    hashes();
    const changes = valid === textOf('1') ? [] : [valid === null ? 'unusable' : 'reloaded'];
    assert.deepEqual(events, changes);
    rmSync(path, { recursive: true, force: true });
    writeFileSync(path, textOf('1'));
    clock.advance(bounds.operatorTokenReadIntervalMs);
    assert.ok(token.isCurrentHash(hash!));
    assert.deepEqual(events, valid === textOf('1') ? [] : [...changes, 'reloaded']);
  });
}
