import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { describe, type TestContext, test } from 'node:test';
import type { Listener, RequestContext, RequestHandler } from '../../src/http/engines/listener.ts';
import { InvalidCertificateError, readCertificate, type TlsVersion } from '../../src/tls/certificate.ts';
import { runAfterTest } from '../support/run-after-test.ts';
import { createSelfSignedCertificate, writeCertificate } from '../support/self-signed.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';
import { ask, closeWithDelay, engines, get, hello, listenerOptions } from './listener-bench.ts';
import { RawConnection } from './raw-connection.ts';

const request = get('/');

async function closedAfter(t: TestContext, opening: Promise<RawConnection>): Promise<RawConnection> {
  const connection = await opening;
  runAfterTest(t, () => connection.close());
  return connection;
}

for (const engine of ['uws', 'node'] as const) {
  describe(`certificates of the ${engine} listener`, () => {
    /** Starts a listener with a certificate for `one.test`. `renew` replaces the certificate. */
    async function secured(t: TestContext, handler: RequestHandler = hello, minVersion: TlsVersion = '1.2') {
      const folder = temporaryFolder(t);
      const read = (name: string) => readCertificate(writeCertificate(folder, createSelfSignedCertificate(name)));
      const tls = { certificate: read('one.test'), minVersion };
      const listener: Listener = await engines[engine]({ ...listenerOptions(handler), tls });
      runAfterTest(t, () => listener.close(0));
      return {
        listener,
        folder,
        renew: (name: string) => listener.setCertificate(read(name)),
        open: (servername = '') => closedAfter(t, RawConnection.openSecurely(listener.port, { servername })),
        openPlain: () => closedAfter(t, RawConnection.open(listener.port)),
      };
    }

    test('a new certificate is used only for connections opened later, whether or not the client sends a server name', async (t) => {
      let pending: RequestContext | undefined;
      const { open, renew } = await secured(t, (context) => {
        if (context.path === '/') hello(context);
        else pending = context;
      });
      const idle = await open('localhost');
      const busy = await open();
      assert.deepEqual([idle.serverName, busy.serverName], ['CN=one.test', 'CN=one.test']);
      busy.send(get('/pending'));
      await ask(idle, request);
      for (const name of ['two.test', 'three.test']) {
        renew(name);
        for (const servername of ['localhost', '']) {
          const connection = await open(servername);
          assert.equal(connection.serverName, `CN=${name}`);
          assert.equal((await ask(connection, request)).body.toString(), 'hello');
        }
      }
      assert.equal((await ask(idle, request)).status, 200);
      pending?.reply({ status: 200, headers: '', body: 'at last' });
      assert.equal((await busy.response()).body.toString(), 'at last');
    });

    test('no connection fails while certificates are replaced', async (t) => {
      const { open, renew } = await secured(t);
      let replacing = true;
      let answers = 0;
      const names = new Set<string | undefined>();
      const client = async (): Promise<void> => {
        while (replacing) {
          const connection = await open('localhost');
          assert.equal((await ask(connection, request)).status, 200);
          names.add(connection.serverName);
          answers += 1;
          connection.close();
        }
      };
      const clients = Array.from({ length: 8 }, client);
      for (let count = 0; count < 30; count += 1) {
        const before = answers;
        renew(`number-${count}.test`);
        while (answers === before) await new Promise(setImmediate);
      }
      replacing = false;
      await Promise.all(clients);
      assert.ok(names.size > 10);
    });

    test('a certificate that changes during a drain is used until the listener closes', async (t) => {
      const { listener, open, renew } = await secured(t);
      const { closing, endDelay } = closeWithDelay(listener);
      renew('two.test');
      const connection = await open();
      assert.equal(connection.serverName, 'CN=two.test');
      assert.equal((await ask(connection, request)).status, 200);
      endDelay();
      assert.equal(await closing, 0);
      renew('three.test');
    });

    test('close ends all connections, including connections whose certificate has been replaced', async (t) => {
      const { listener, open, renew } = await secured(t);
      const connections: RawConnection[] = [];
      for (const name of ['two.test', 'three.test']) {
        connections.push(await open());
        renew(name);
      }
      connections.push(await open());
      assert.equal(await listener.close(10_000), 0);
      await Promise.all(connections.map((connection) => connection.closed));
    });

    test('close does not wait for incomplete TLS handshakes', async (t) => {
      const { listener, openPlain } = await secured(t);
      const [silent, busy] = [await openPlain(), await openPlain()];
      busy.send(Buffer.from([0x16, 0x03, 0x01]));
      await listener.close(10_000);
      await Promise.all([silent.closed, busy.closed]);
    });

    test('sends no response to plain HTTP on the TLS port, and closes the connection', async (t) => {
      const { open, openPlain } = await secured(t);
      const plain = await openPlain();
      plain.send(request);
      await plain.closed;
      assert.doesNotMatch(plain.rest, /HTTP/);
      assert.equal((await ask(await open(), request)).status, 200);
    });

    test('supports TLS 1.3, and TLS 1.2 unless the minimum version is 1.3', async (t) => {
      const supports = (listener: Listener, version: 'TLSv1.1' | 'TLSv1.2' | 'TLSv1.3'): Promise<boolean> => {
        const versions = { minVersion: version, maxVersion: version, ciphers: 'DEFAULT@SECLEVEL=0' } as const;
        return RawConnection.openSecurely(listener.port, versions).then(
          (connection) => {
            connection.close();
            return true;
          },
          () => false,
        );
      };
      const versions = async ({ listener }: { listener: Listener }) =>
        Promise.all((['TLSv1.1', 'TLSv1.2', 'TLSv1.3'] as const).map((version) => supports(listener, version)));
      assert.deepEqual(await versions(await secured(t)), [false, true, true]);
      const strict = await secured(t, hello, '1.3');
      assert.deepEqual(await versions(strict), [false, false, true]);
      strict.renew('two.test');
      assert.deepEqual(await versions(strict), [false, false, true]);
    });

    test('continues with the current certificate if the engine cannot load the new certificate', async (t) => {
      const { listener, open, folder } = await secured(t);
      const files = writeCertificate(folder, createSelfSignedCertificate('two.test'));
      const valid = readCertificate(files);
      // The key file changes after the validation.
      writeFileSync(files.keyFile, 'no key');
      const invalid = { ...valid, keyPem: Buffer.from('no key') };
      assert.throws(() => listener.setCertificate(invalid), InvalidCertificateError);
      const connection = await open();
      assert.equal(connection.serverName, 'CN=one.test');
    });
  });
}
