import assert from 'node:assert/strict';
import { generateKeyPairSync } from 'node:crypto';
import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { type TestContext, test } from 'node:test';
import { bounds } from '../../src/bounds.ts';
import { type CertificateFiles, InvalidCertificateError, readCertificate } from '../../src/tls/certificate.ts';
import { temporaryFolder } from '../support/running-marketplace.ts';
import { selfSigned, writeCertificate } from '../support/self-signed.ts';

function filesFor(t: TestContext): CertificateFiles {
  const folder = temporaryFolder();
  t.after(() => rmSync(folder, { recursive: true }));
  return writeCertificate(folder, selfSigned('one.test', Date.UTC(2040, 0, 2, 3, 4, 5)));
}

test('reads a certificate, its key and its expiry date', (t) => {
  const certificate = readCertificate(filesFor(t));
  assert.equal(certificate.expiresAtMs, Date.UTC(2040, 0, 2, 3, 4, 5));
  assert.match(certificate.certificatePem.toString(), /^-----BEGIN CERTIFICATE-----/);
});

test('reads a certificate file with a chain', (t) => {
  const files = filesFor(t);
  const { certificate, key } = selfSigned('two.test', Date.UTC(2030, 0, 1));
  writeFileSync(files.certificateFile, certificate + selfSigned('authority.test').certificate);
  writeFileSync(files.keyFile, key);
  assert.equal(readCertificate(files).expiresAtMs, Date.UTC(2030, 0, 1));
});

const secretText = 'not-to-be-repeated';

const faulty: readonly (readonly [
  what: string,
  part: 'certificate' | 'key',
  spoil: (files: CertificateFiles) => void,
])[] = [
  ['a certificate that is missing', 'certificate', ({ certificateFile }) => rmSync(certificateFile)],
  ['a key that is missing', 'key', ({ keyFile }) => rmSync(keyFile)],
  [
    'a folder in place of the key',
    'key',
    ({ keyFile }) => {
      rmSync(keyFile);
      mkdirSync(keyFile);
    },
  ],
  ['a certificate that is none', 'certificate', ({ certificateFile }) => writeFileSync(certificateFile, secretText)],
  ['an empty certificate', 'certificate', ({ certificateFile }) => writeFileSync(certificateFile, '')],
  ['a key that is none', 'key', ({ keyFile }) => writeFileSync(keyFile, secretText)],
  ['a key of another certificate', 'key', ({ keyFile }) => writeFileSync(keyFile, selfSigned('other.test').key)],
  [
    'a key with a passphrase',
    'key',
    ({ keyFile }) => {
      const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
      const sealed = { type: 'pkcs8', format: 'pem', cipher: 'aes-256-cbc', passphrase: secretText } as const;
      writeFileSync(keyFile, privateKey.export(sealed));
    },
  ],
  [
    'a chain that breaks off',
    'certificate',
    ({ certificateFile }) => {
      const { certificate, key } = selfSigned('one.test');
      writeFileSync(certificateFile, `${certificate}-----BEGIN CERTIFICATE-----\n${secretText}\n`);
      writeFileSync(certificateFile.replace('certificate', 'key'), key);
    },
  ],
  [
    'a file far too large',
    'certificate',
    ({ certificateFile }) => writeFileSync(certificateFile, Buffer.alloc(bounds.certificateFileBytesMax + 1)),
  ],
];

for (const [what, part, spoil] of faulty) {
  test(`rejects ${what} with the file name and without the file content`, (t) => {
    const files = filesFor(t);
    spoil(files);
    assert.throws(
      () => readCertificate(files),
      (fault) => {
        assert.ok(fault instanceof InvalidCertificateError);
        assert.equal(fault.part, part);
        assert.ok(fault.message.startsWith(part === 'key' ? files.keyFile : files.certificateFile));
        assert.ok(!fault.message.includes(secretText));
        return true;
      },
    );
  });
}
