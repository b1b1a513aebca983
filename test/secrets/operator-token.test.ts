import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { type TestContext, test } from 'node:test';
import { openOperatorToken, operatorTokenPath, readOperatorToken } from '../../src/auth/operator-token.ts';
import { SecretFileError } from '../../src/secrets/secret-file.ts';

function pathFor(t: TestContext): string {
  const folder = mkdtempSync(`${tmpdir()}/operator-token-`);
  t.after(() => rmSync(folder, { recursive: true }));
  return operatorTokenPath(folder);
}

test('the first start writes a token that only its owner can read, and the next one finds it', (t) => {
  const path = pathFor(t);
  const first = openOperatorToken(path);
  assert.equal(first.created, true);
  assert.equal(statSync(path).mode & 0o777, 0o600);
  const text = readOperatorToken(path);
  assert.match(text, /^svc_operator_[0-9a-f]{64}$/);
  assert.ok(first.token.matchesHeader(`Bearer ${text}`));
  const second = openOperatorToken(path);
  assert.equal(second.created, false);
  assert.ok(second.token.matchesHeader(`Bearer ${text}`));
});

test('two folders have different tokens', (t) => {
  const [one, other] = [pathFor(t), pathFor(t)];
  openOperatorToken(one);
  assert.equal(openOperatorToken(other).token.matchesHeader(`Bearer ${readOperatorToken(one)}`), false);
});

test('nothing but the token of a bearer passes', (t) => {
  const path = pathFor(t);
  const { token } = openOperatorToken(path);
  const text = readOperatorToken(path);
  for (const wrong of ['', text, `Basic ${text}`, `Bearer ${text}0`, `Bearer ${text} x`, `Bearer${text}`, 'Bearer x']) {
    assert.equal(token.matchesHeader(wrong), false, wrong.replace(text, '(the token)'));
  }
});

test('a file that holds no token is refused in words that do not repeat it', (t) => {
  const path = pathFor(t);
  for (const content of ['', 'secret', 'svc_operator_12\n', `svc_operator_${'A'.repeat(64)}`]) {
    writeFileSync(path, content);
    assert.throws(
      () => openOperatorToken(path),
      (fault: unknown) => {
        assert.ok(fault instanceof SecretFileError && fault.message.includes(path));
        return content === '' || !fault.message.includes(content.trim());
      },
    );
  }
});
