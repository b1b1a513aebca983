import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { bounds } from '../../src/bounds.ts';
import type { Listener, ListenerOptions } from '../../src/http/listener.ts';
import { startNodeListener } from '../../src/http/node-listener.ts';
import { startUwsListener } from '../../src/http/uws-listener.ts';
import { errorReply, type ListenerBench, listenerCases } from './listener-cases.ts';
import { RawConnection } from './raw-connection.ts';

const engines = { uws: startUwsListener, node: startNodeListener };

for (const engine of ['uws', 'node'] as const) {
  describe(`the ${engine} listener`, () => {
    for (const { name, run } of listenerCases) {
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
                onFault: (fault, { requestId }) => faults.push({ fault, requestId }),
                bodyBytesMax: bounds.bodyBytesMax,
                deadlineMs: bounds.requestDeadlineMs,
                ...overrides,
              };
              const listener = await engines[engine](options);
              listeners.push(listener);
              return listener;
            },
            async open(listener) {
              const connection = await RawConnection.open(listener.port);
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
