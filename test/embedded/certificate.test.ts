import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { test } from 'node:test';
import { runAfterTest } from '../support/run-after-test.ts';
import { createSelfSignedCertificate, writeCertificate } from '../support/self-signed.ts';
import { ServiceConnection } from '../support/service-connection.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';
import { startEmbedded } from './embedded-marketplace.ts';

test('a login over https sets a cookie that browsers never send over http', async (t) => {
  const folder = temporaryFolder(t);
  const tls = writeCertificate(folder, createSelfSignedCertificate('one.test'));
  const marketplace = await startEmbedded(t, { listen: { tls }, urls: {} });
  const { key } = marketplace.keys.create({ account: 'acme', vertical: 'personal-loans', mode: 'test' });
  const connection = await ServiceConnection.openSecurely(
    marketplace.ports?.public ?? assert.fail('it does not listen'),
  );
  runAfterTest(t, () => connection.close());
  const body = JSON.stringify({ key });
  const headers = ['Host: one.test', 'Sec-Fetch-Site: same-origin', 'Content-Type: application/json'];
  connection.send(
    ['POST /console/api/login HTTP/1.1', ...headers, `Content-Length: ${body.length}`, '', body].join('\r\n'),
  );
  const answer = await connection.response();
  assert.equal(answer.status, 200);
  assert.match(answer.headers.get('set-cookie') ?? '', /; HttpOnly; SameSite=Strict; Secure$/);
});

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
