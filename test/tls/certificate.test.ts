import assert from 'node:assert/strict';
import { generateKeyPairSync } from 'node:crypto';
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { type TestContext, test } from 'node:test';
import { bounds } from '../../src/bounds.ts';
import {
  type Certificate,
  type CertificateFiles,
  CertificateStore,
  InvalidCertificateError,
  readCertificate,
} from '../../src/tls/certificate.ts';
import { ManualClock } from '../support/manual-clock.ts';
import { runAfterTest } from '../support/run-after-test.ts';
import { createSelfSignedCertificate, writeCertificate } from '../support/self-signed.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';

function filesFor(t: TestContext): CertificateFiles {
  return writeCertificate(temporaryFolder(t), createSelfSignedCertificate('one.test', Date.UTC(2040, 0, 2, 3, 4, 5)));
}

test('reads the certificate and its expiry date, whether the file contains one certificate or a chain', (t) => {
  const files = filesFor(t);
  for (const chain of ['', createSelfSignedCertificate('authority.test').certificate]) {
    writeFileSync(files.certificateFile, chain, { flag: 'a' });
    const certificate = readCertificate(files);
    assert.equal(certificate.expiresAtMs, Date.UTC(2040, 0, 2, 3, 4, 5));
    assert.match(certificate.certificatePem.toString(), /^-----BEGIN CERTIFICATE-----/);
  }
});

const secretText = 'not-to-be-repeated';

const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
const encrypted = { type: 'pkcs8', format: 'pem', cipher: 'aes-256-cbc', passphrase: secretText } as const;
const incomplete = `-----BEGIN CERTIFICATE-----\n${secretText}\n`;

for (const [what, part, content] of [
  ['a certificate file that is missing', 'certificate', null],
  ['a certificate file without a certificate', 'certificate', secretText],
  ['an empty certificate file', 'certificate', ''],
  ['a certificate file that is too large', 'certificate', Buffer.alloc(bounds.certificateFileBytesMax + 1)],
  ['a chain with an incomplete certificate', 'certificate', (own: string) => own + incomplete],
  ['a folder instead of the key file', 'key', null],
  ['a key file without a key', 'key', secretText],
  ['a key with a passphrase', 'key', privateKey.export(encrypted)],
  ['a key of another certificate', 'key', createSelfSignedCertificate('other.test').key],
] as const) {
  test(`the error for ${what} contains the file name and no file content`, (t) => {
    const files = filesFor(t);
    const file = part === 'key' ? files.keyFile : files.certificateFile;
    const own = readFileSync(file, 'utf8');
    rmSync(file);
    if (content !== null) writeFileSync(file, typeof content === 'function' ? content(own) : content);
    else if (part === 'key') mkdirSync(file);
    assert.throws(
      () => readCertificate(files),
      (error) =>
        error instanceof InvalidCertificateError &&
        error.part === part &&
        error.message.startsWith(file) &&
        !error.message.includes(secretText),
    );
  });
}

const dayMs = 24 * 60 * 60 * 1000;

function createStore(t: TestContext, daysLeft: number) {
  const folder = temporaryFolder(t);
  const clock = new ManualClock();
  const write = (days: number) =>
    writeCertificate(
      folder,
      createSelfSignedCertificate('one.test', Math.floor(clock.wallMs() / 1000) * 1000 + days * dayMs),
    );
  const files = write(daysLeft);
  const warnings: number[] = [];
  const used: Certificate[] = [];
  const store = new CertificateStore({ files, clock, onExpiryWarning: (secondsLeft) => warnings.push(secondsLeft) });
  runAfterTest(t, () => store.close());
  store.onCertificateChange((certificate) => used.push(certificate));
  return { store, clock, files, write, warnings, used };
}

test('a reload applies a changed certificate once', (t) => {
  const { store, write, used } = createStore(t, 90);
  write(180);
  const changes = [store.reloadCertificate(), store.reloadCertificate()];
  assert.deepEqual(
    changes.map((change) => change.ok && [change.changed, change.expiresAtMs]),
    [true, false].map((changed) => [changed, store.currentCertificate.expiresAtMs]),
  );
  assert.deepEqual(used, [store.currentCertificate]);
});

test('keeps the current certificate after a failed reload, and reports the first successful reload after a failure', (t) => {
  const { store, files, write, used } = createStore(t, 90);
  const { currentCertificate: current } = store;
  assert.equal(store.lastReloadFailed, false);
  const key = readFileSync(files.keyFile);
  // Only the key file is replaced, as during a renewal that writes one file before the other.
  writeFileSync(files.keyFile, createSelfSignedCertificate('other.test').key);
  for (let reload = 0; reload < 2; reload++) {
    const change = store.reloadCertificate();
    assert.ok(!change.ok && store.lastReloadFailed);
    assert.match(change.error, /key\.pem is not the private key of the certificate in .*certificate\.pem$/);
    assert.deepEqual([store.currentCertificate, used], [current, []]);
  }
  const reloadRecovers = () => {
    const change = store.reloadCertificate();
    return change.ok && change.recovered;
  };
  writeFileSync(files.keyFile, key);
  assert.deepEqual([reloadRecovers(), reloadRecovers()], [true, false]);
  assert.equal(store.lastReloadFailed, false);
  rmSync(files.keyFile);
  store.reloadCertificate();
  assert.equal(store.lastReloadFailed, true);
  write(180);
  assert.equal(reloadRecovers(), true);
  assert.equal(store.lastReloadFailed, false);
});

test('continues with the current certificate if the listener rejects the new certificate', (t) => {
  const { store, files, write } = createStore(t, 90);
  const { currentCertificate: current } = store;
  store.onCertificateChange(() => {
    throw new InvalidCertificateError('certificate', files, 'accepted');
  });
  write(180);
  assert.deepEqual(store.reloadCertificate(), { ok: false, error: `${files.certificateFile} is not accepted` });
  assert.deepEqual([store.currentCertificate, store.lastReloadFailed], [current, true]);
});

test('logs a warning in the last two weeks before a certificate expires', (t) => {
  t.mock.timers.enable({ apis: ['setInterval'] });
  const { store, clock, warnings, write } = createStore(t, 15);
  t.mock.timers.tick(bounds.certificateExpiryCheckIntervalMs);
  assert.deepEqual(warnings, []);
  const before = store.secondsUntilExpiry;
  clock.advance(2 * dayMs);
  assert.equal(store.secondsUntilExpiry, before - 2 * 86_400);
  t.mock.timers.tick(bounds.certificateExpiryCheckIntervalMs);
  assert.deepEqual(warnings, [store.secondsUntilExpiry]);
  write(90);
  store.reloadCertificate();
  t.mock.timers.tick(bounds.certificateExpiryCheckIntervalMs);
  assert.equal(warnings.length, 1);
});

test('if a certificate has expired, the server still uses the certificate and logs a warning', (t) => {
  const { store, warnings } = createStore(t, -1);
  assert.ok(store.secondsUntilExpiry < 0);
  assert.deepEqual(warnings, [store.secondsUntilExpiry]);
});
