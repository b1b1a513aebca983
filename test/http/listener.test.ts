import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, describe, test } from 'node:test';
import { bounds } from '../../src/bounds.ts';
import type { Listener, ListenerOptions } from '../../src/http/engines/listener.ts';
import { startNodeListener } from '../../src/http/engines/node-listener.ts';
import { startUwsListener } from '../../src/http/engines/uws-listener.ts';
import { readCertificate } from '../../src/tls/certificate.ts';
import { createSelfSignedCertificate, writeCertificate } from '../support/self-signed.ts';
import { errorReply, type ListenerBench, listenerCases } from './listener-cases.ts';
import { RawConnection } from './raw-connection.ts';

const engines = { uws: startUwsListener, node: startNodeListener };

const folder = mkdtempSync(join(tmpdir(), 'listener-'));
after(() => rmSync(folder, { recursive: true }));
const tls = {
  certificate: readCertificate(writeCertificate(folder, createSelfSignedCertificate('one.test'))),
  minVersion: '1.2',
} as const;

for (const engine of ['uws', 'node'] as const) {
  for (const secure of [false, true]) {
    describe(`the ${engine} listener${secure ? ' over TLS' : ''}`, () => {
      for (const { name, overTls, run } of listenerCases) {
        if (secure && overTls !== true) continue;
        test(name, async () => {
          const listeners: Listener[] = [];
          const connections: RawConnection[] = [];
          const faults: ListenerBench['faults'] = [];
          try {
            await run({
              engine,
              faults,
              async start(handler, overrides) {
                const options: ListenerOptions = {
                  host: '127.0.0.1',
                  port: 0,
                  handler,
                  errorReply,
                  onHandlerError: (fault, { requestId }) => faults.push({ fault, requestId }),
                  bodyBytesMax: bounds.requestBodyBytesMax,
                  deadlineMs: bounds.requestDeadlineMs,
                  tls: secure ? tls : undefined,
                  ...overrides,
                };
                const listener = await engines[engine](options);
                listeners.push(listener);
                return listener;
              },
              async open(listener) {
                const { port } = listener;
                const connection = await (secure ? RawConnection.openSecurely(port) : RawConnection.open(port));
                connections.push(connection);
                return connection;
              },
            });
            for (const listener of listeners) assert.equal(listener.engine, engine);
          } finally {
            for (const connection of connections) connection.close();
            await Promise.all(listeners.map((listener) => listener.close(0)));
          }
        });
      }
    });
  }
}
