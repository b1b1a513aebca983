import assert from 'node:assert/strict';
import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { createMarketplace } from '../../src/index.ts';
import { runAfterTest } from '../support/run-after-test.ts';
import { temporaryFolder } from '../support/running-marketplace.ts';
import { createSelfSignedCertificate, writeCertificate } from '../support/self-signed.ts';
import { ServiceConnection } from '../support/service-connection.ts';

test('the embedded service serves HTTPS, and reloadCertificate loads a changed certificate', async (t) => {
  const folder = temporaryFolder();
  runAfterTest(t, () => rmSync(folder, { recursive: true }));
  const tls = writeCertificate(folder, createSelfSignedCertificate('one.test'));
  const marketplace = await createMarketplace({ dataDir: join(folder, 'data'), listen: { tls } });
  runAfterTest(t, () => marketplace.close());
  const port = marketplace.ports?.public ?? assert.fail('it does not listen');
  assert.equal(marketplace.urls.click, `https://127.0.0.1:${port}`);
  const shown = async () => {
    const connection = await ServiceConnection.openSecurely(port);
    runAfterTest(t, () => connection.close());
    return connection.serverName;
  };
  assert.equal(await shown(), 'CN=one.test');
  writeCertificate(folder, createSelfSignedCertificate('two.test'));
  assert.partialDeepStrictEqual(marketplace.reloadCertificate(), { ok: true, changed: true });
  assert.equal(await shown(), 'CN=two.test');
  writeFileSync(tls.certificateFile, 'spoiled');
  const error = `${tls.certificateFile} is not a certificate in PEM, followed by its chain`;
  assert.deepEqual(marketplace.reloadCertificate(), { ok: false, error });
  assert.equal(await shown(), 'CN=two.test');
});

test('the start fails with an invalid certificate and unlocks the data folder; without TLS, reloadCertificate returns null', async (t) => {
  const folder = temporaryFolder();
  runAfterTest(t, () => rmSync(folder, { recursive: true }));
  const dataDir = join(folder, 'data');
  const tls = { certificateFile: join(folder, 'none.pem'), keyFile: join(folder, 'none.key') };
  await assert.rejects(createMarketplace({ dataDir, listen: { tls } }), {
    name: 'InvalidCertificateError',
    message: `${tls.certificateFile} is not a file that can be read (ENOENT)`,
  });
  const marketplace = await createMarketplace({ dataDir });
  assert.equal(marketplace.reloadCertificate(), null);
  await marketplace.close();
});
