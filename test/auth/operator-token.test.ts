import assert from 'node:assert/strict';
import { statSync, writeFileSync } from 'node:fs';
import { type TestContext, test } from 'node:test';
import { operatorTokenPath, readOperatorToken, readOrCreateOperatorToken } from '../../src/auth/operator-token.ts';
import { SecretFileError } from '../../src/secrets/secret-file.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';

const pathFor = (t: TestContext) => operatorTokenPath(temporaryFolder(t));

test('creates a private operator token file at the first start only', (t) => {
  const path = pathFor(t);
  const first = readOrCreateOperatorToken(path);
  assert.equal(first.created, true);
  assert.equal(statSync(path).mode & 0o777, 0o600);
  const text = readOperatorToken(path);
  assert.match(text, /^svc_operator_[0-9a-f]{64}$/);
  assert.ok(first.token.matchesAuthorizationHeader(`Bearer ${text}`));
  const second = readOrCreateOperatorToken(path);
  assert.equal(second.created, false);
  assert.ok(second.token.matchesAuthorizationHeader(`Bearer ${text}`));
  assert.equal(readOrCreateOperatorToken(pathFor(t)).token.matchesAuthorizationHeader(`Bearer ${text}`), false);
});

test('accepts only the operator token as a bearer token', (t) => {
  const path = pathFor(t);
  const { token } = readOrCreateOperatorToken(path);
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
      () => readOrCreateOperatorToken(path),
      (error: unknown) => {
        assert.ok(error instanceof SecretFileError && error.message.includes(path));
        return content === '' || !error.message.includes(content.trim());
      },
    );
  }
});
