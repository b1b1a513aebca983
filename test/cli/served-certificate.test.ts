import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { runAfterTest } from '../support/run-after-test.ts';
import { Scrape } from '../support/scrape.ts';
import { createSelfSignedCertificate, writeCertificate } from '../support/self-signed.ts';
import { ServiceConnection } from '../support/service-connection.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';
import { ServedProcess } from './served-process.ts';

const dayMs = 24 * 60 * 60 * 1000;

/** Subject of the certificate that a new connection gets. */
async function subjectAt(port: number): Promise<string | undefined> {
  const connection = await ServiceConnection.openSecurely(port);
  const { serverName } = connection;
  connection.close();
  return serverName;
}

test('serves HTTPS and reloads the certificate on SIGHUP and when its files change', async (t) => {
  const folder = temporaryFolder(t);
  const soon = createSelfSignedCertificate('one.test', Date.now() + 10 * dayMs);
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
  const operations = await served.client(t, 'operations');
  const metric = async (name: string) => (await Scrape.of(operations)).value(`marketplace_certificate_${name}`);
  const expiry = await served.logged('certificate expires soon');
  assert.equal(expiry.file, certificateFile);
  assert.ok((await metric('expires_in_seconds')) <= 10 * 86_400);

  const kept = await ServiceConnection.openSecurely(ports.public);
  runAfterTest(t, () => kept.close());
  assert.equal(kept.serverName, 'CN=one.test');
  writeCertificate(folder, createSelfSignedCertificate('two.test'));
  served.signal('SIGHUP');
  await served.logged('certificate reloaded');
  assert.equal(await subjectAt(ports.public), 'CN=two.test');
  assert.ok((await metric('expires_in_seconds')) > 80 * 86_400);

  // Writes a private key that belongs to another certificate. The server finds the error without a signal.
  writeFileSync(keyFile, createSelfSignedCertificate('other.test').key);
  const { err } = await served.logged('certificate reload failed; keeping the current certificate');
  assert.equal(err, `${keyFile} is not the private key of the certificate in ${certificateFile}`);
  assert.equal(await subjectAt(ports.public), 'CN=two.test');
  assert.equal(await metric('reload_failed'), 1);

  writeCertificate(folder, createSelfSignedCertificate('three.test'));
  await served.logged('certificate is valid again');
  await served.logged('certificate reloaded', 1);
  assert.equal(await metric('reload_failed'), 0);
  assert.equal(await subjectAt(ports.public), 'CN=three.test');

  kept.send('GET /cdn/none.svg HTTP/1.1\r\nHost: test\r\n\r\n');
  assert.equal((await kept.response()).status, 404);
  served.signal('SIGTERM');
  assert.deepEqual(await served.ended, { code: 0, signal: null });
});
