import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { test } from 'node:test';
import { runAfterTest } from '../support/run-after-test.ts';
import { createSelfSignedCertificate, writeCertificate } from '../support/self-signed.ts';
import { ServiceConnection } from '../support/service-connection.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';
import { startEmbedded } from './embedded-marketplace.ts';

test('the embedded service serves HTTPS, and reloadCertificate loads a changed certificate', async (t) => {
  const folder = temporaryFolder(t);
  const tls = writeCertificate(folder, createSelfSignedCertificate('one.test'));
  const marketplace = await startEmbedded(t, { listen: { tls }, urls: {} });
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
