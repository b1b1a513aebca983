import assert from 'node:assert/strict';
import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { afterwards } from '../support/afterwards.ts';
import { HttpClient } from '../support/http-client.ts';
import { temporaryFolder } from '../support/running-marketplace.ts';
import { selfSigned, writeCertificate } from '../support/self-signed.ts';
import { ServiceConnection } from '../support/service-connection.ts';
import { runMarketplace } from './run-marketplace.ts';
import { ServedProcess } from './served-process.ts';

const dayMs = 24 * 60 * 60 * 1000;

function folderFor(t: TestContext): string {
  const folder = temporaryFolder();
  afterwards(t, () => rmSync(folder, { recursive: true }));
  return folder;
}

/** Subject of the certificate that a new connection gets. */
async function subjectAt(port: number): Promise<string | undefined> {
  const connection = await ServiceConnection.openSecurely(port);
  const { serverName } = connection;
  connection.close();
  return serverName;
}

test('serves HTTPS and reloads the certificate on SIGHUP and when its files change', async (t) => {
  const folder = folderFor(t);
  const soon = selfSigned('one.test', Date.now() + 10 * dayMs);
  const { certificateFile, keyFile } = writeCertificate(folder, soon);
  const served = new ServedProcess(t, {
    SVC_DATA_DIR: join(folder, 'data'),
    SVC_TLS_CERT: certificateFile,
    SVC_TLS_KEY: keyFile,
  });
  const ports = await served.ports();
  assert.match(
    await served.greeting,
    new RegExp(`^serving https://127\\.0\\.0\\.1:${ports.public}/v1/personal-loans,`),
  );
  const operations = new HttpClient(ports.operations, false);
  afterwards(t, () => operations.close());
  const metric = async (name: string): Promise<number> => {
    const { text } = await operations.send({ path: '/metrics' });
    return Number(new RegExp(`^marketplace_certificate_${name} (\\S+)$`, 'm').exec(text)?.[1]);
  };
  const expiry = await served.logged('certificate expires soon');
  assert.equal(expiry.file, certificateFile);
  assert.ok((await metric('expires_in_seconds')) <= 10 * 86_400);

  const kept = await ServiceConnection.openSecurely(ports.public);
  afterwards(t, () => kept.close());
  assert.equal(kept.serverName, 'CN=one.test');
  writeCertificate(folder, selfSigned('two.test'));
  served.signal('SIGHUP');
  await served.logged('certificate reloaded');
  assert.equal(await subjectAt(ports.public), 'CN=two.test');
  assert.ok((await metric('expires_in_seconds')) > 80 * 86_400);

  // A key of another certificate, found without a signal.
  writeFileSync(keyFile, selfSigned('other.test').key);
  const { err } = await served.logged('certificate reload failed; keeping the current certificate');
  assert.equal(err, `${keyFile} is not the private key of the certificate in ${certificateFile}`);
  assert.equal(await subjectAt(ports.public), 'CN=two.test');
  assert.equal(await metric('reload_failed'), 1);

  writeCertificate(folder, selfSigned('three.test'));
  await served.logged('certificate is valid again');
  await served.logged('certificate reloaded', 1);
  assert.equal(await metric('reload_failed'), 0);
  assert.equal(await subjectAt(ports.public), 'CN=three.test');

  kept.send('GET /cdn/none.svg HTTP/1.1\r\nHost: test\r\n\r\n');
  assert.equal((await kept.response()).status, 404);
  served.signal('SIGTERM');
  assert.deepEqual(await served.ended, { code: 0, signal: null });
});

const wrongSettings: readonly (readonly [
  what: string,
  settings: (folder: string) => Readonly<Record<string, string>>,
  line: (folder: string) => string,
])[] = [
  [
    'a certificate without a key',
    () => ({ SVC_TLS_CERT: '/tls/cert.pem' }),
    () => 'SVC_TLS_CERT is "/tls/cert.pem"; it must be unset unless SVC_TLS_KEY is set',
  ],
  [
    'a key without a certificate',
    () => ({ SVC_TLS_KEY: '/tls/key.pem' }),
    () => 'SVC_TLS_KEY is "/tls/key.pem"; it must be unset unless SVC_TLS_CERT is set',
  ],
  [
    'a missing certificate',
    (folder) => ({ SVC_TLS_CERT: join(folder, 'none.pem'), SVC_TLS_KEY: join(folder, 'key.pem') }),
    (folder) => `SVC_TLS_CERT is "${join(folder, 'none.pem')}"; it must be a file that can be read (ENOENT)`,
  ],
  [
    'an invalid key',
    (folder) => ({ SVC_TLS_CERT: join(folder, 'certificate.pem'), SVC_TLS_KEY: join(folder, 'certificate.pem') }),
    (folder) =>
      `SVC_TLS_KEY is "${join(folder, 'certificate.pem')}"; it must be a private key in PEM without a passphrase`,
  ],
];

for (const [what, settings, line] of wrongSettings) {
  test(`${what} fails the start with one line`, async (t) => {
    const folder = folderFor(t);
    writeCertificate(folder, selfSigned('one.test'));
    const { code, stderr } = await runMarketplace(['serve'], {
      SVC_DATA_DIR: join(folder, 'data'),
      ...settings(folder),
    });
    assert.deepEqual([code, stderr], [1, `marketplace: ${line(folder)}\n`]);
  });
}
