import { once } from 'node:events';
import { Server as HttpServer } from 'node:http';
import type { AddressInfo, Server } from 'node:net';
import type { TestContext } from 'node:test';
import { runAfterTest } from './run-after-test.ts';

/** Lets a server listen on a free port of 127.0.0.1 until the end of the test. Returns the port. */
export async function listen(t: TestContext, server: Server): Promise<number> {
  await once(server.listen(0, '127.0.0.1'), 'listening');
  runAfterTest(t, () => {
    server.close();
    if (server instanceof HttpServer) server.closeAllConnections();
  });
  return (server.address() as AddressInfo).port;
}
