import assert from 'node:assert/strict';
import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { type TestContext, test } from 'node:test';
import { bounds } from '../../src/bounds.ts';
import { type Certificate, CertificateStore, InvalidCertificateError } from '../../src/tls/certificate.ts';
import { afterwards } from '../support/afterwards.ts';
import { ManualClock } from '../support/manual-clock.ts';
import { temporaryFolder } from '../support/running-marketplace.ts';
import { selfSigned, writeCertificate } from '../support/self-signed.ts';

const dayMs = 24 * 60 * 60 * 1000;

function keeperFor(t: TestContext, daysLeft: number) {
  const folder = temporaryFolder();
  afterwards(t, () => rmSync(folder, { recursive: true }));
  const clock = new ManualClock();
  const put = (days: number) =>
    writeCertificate(folder, selfSigned('one.test', Math.floor(clock.wallMs() / 1000) * 1000 + days * dayMs));
  const files = put(daysLeft);
  const warnings: number[] = [];
  const used: Certificate[] = [];
  const keeper = new CertificateStore({ files, clock, onExpiryWarning: (secondsLeft) => warnings.push(secondsLeft) });
  afterwards(t, () => keeper.close());
  keeper.onChange((certificate) => used.push(certificate));
  return { keeper, clock, files, put, warnings, used };
}

test('what has not changed is not put in use again', (t) => {
  const { keeper, used } = keeperFor(t, 90);
  const change = keeper.reload();
  assert.ok(change.ok && !change.changed);
  assert.deepEqual(used, []);
});

test('a new pair comes into use', (t) => {
  const { keeper, put, used } = keeperFor(t, 90);
  put(180);
  const change = keeper.reload();
  assert.ok(change.ok && change.changed);
  assert.equal(change.expiresAtMs, keeper.current.expiresAtMs);
  assert.deepEqual(used, [keeper.current]);
});

test('a faulty pair changes nothing, and is named', (t) => {
  const { keeper, files, used } = keeperFor(t, 90);
  const { current } = keeper;
  writeFileSync(files.keyFile, selfSigned('other.test').key);
  const change = keeper.reload();
  assert.ok(!change.ok);
  assert.match(change.fault, /key\.pem is not the private key of the certificate in .*certificate\.pem$/);
  assert.deepEqual([keeper.current, used], [current, []]);
});

test('it is faulty from a look at a pair that cannot be used to a look at one that can, be it new or the one in use', (t) => {
  const { keeper, files, put } = keeperFor(t, 90);
  assert.equal(keeper.lastReloadFailed, false);
  const key = readFileSync(files.keyFile);
  // Renewed one file after the other, with a look in between.
  writeFileSync(files.keyFile, selfSigned('other.test').key);
  for (let look = 0; look < 2; look++) {
    keeper.reload();
    assert.equal(keeper.lastReloadFailed, true);
  }
  const recoveredBy = () => {
    const change = keeper.reload();
    return change.ok && change.recovered;
  };
  writeFileSync(files.keyFile, key);
  assert.deepEqual([recoveredBy(), recoveredBy()], [true, false]);
  assert.equal(keeper.lastReloadFailed, false);
  rmSync(files.keyFile);
  keeper.reload();
  assert.equal(keeper.lastReloadFailed, true);
  put(180);
  assert.equal(recoveredBy(), true);
  assert.equal(keeper.lastReloadFailed, false);
});

test('a pair that its user cannot take changes nothing either', (t) => {
  const { keeper, files, put } = keeperFor(t, 90);
  const { current } = keeper;
  keeper.onChange(() => {
    throw new InvalidCertificateError('certificate', files, 'to my taste');
  });
  put(180);
  assert.deepEqual(keeper.reload(), { ok: false, fault: `${files.certificateFile} is not to my taste` });
  assert.deepEqual([keeper.current, keeper.lastReloadFailed], [current, true]);
});

test('the end of a certificate is counted down, and warned of in its last two weeks', (t) => {
  t.mock.timers.enable({ apis: ['setInterval'] });
  const { keeper, clock, warnings, put } = keeperFor(t, 15);
  t.mock.timers.tick(bounds.certificateExpiryCheckIntervalMs);
  assert.deepEqual(warnings, []);
  const before = keeper.secondsUntilExpiry;
  clock.advance(2 * dayMs);
  assert.equal(keeper.secondsUntilExpiry, before - 2 * 86_400);
  t.mock.timers.tick(bounds.certificateExpiryCheckIntervalMs);
  assert.deepEqual(warnings, [keeper.secondsUntilExpiry]);
  put(90);
  keeper.reload();
  t.mock.timers.tick(bounds.certificateExpiryCheckIntervalMs);
  assert.equal(warnings.length, 1);
});

test('one that has expired is used, with a warning from the start', (t) => {
  const { keeper, warnings } = keeperFor(t, -1);
  assert.ok(keeper.secondsUntilExpiry < 0);
  assert.deepEqual(warnings, [keeper.secondsUntilExpiry]);
});
