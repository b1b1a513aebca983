import assert from 'node:assert/strict';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import process from 'node:process';
import { test } from 'node:test';
import { RawConnection } from '../http/raw-connection.ts';
import { createSelfSignedCertificate, writeCertificate } from '../support/self-signed.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';
import { ServedProcess } from './served-process.ts';

const mebibyte = 1024 * 1024;
/**
 * More memory than the service needs, and less than such clients cost without limits. Measured: over TLS, node:http needs 35 to 70 MiB, for it
 * holds unsent replies as text and encrypted, and buffers of OpenSSL for 500 connections. Without the limit of pipelined requests, the
 * same clients take 330 to 580 MiB.
 */
const moreBytesMax = 128 * mebibyte;

/** Peak resident memory of a process since `resetPeak`. */
function peakBytes(pid: number): number {
  return Number(/^VmHWM:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]) * 1024;
}

function resetPeak(pid: number): void {
  writeFileSync(`/proc/${pid}/clear_refs`, '5');
}

interface Readers {
  readonly port: number;
  readonly secure: boolean;
  readonly connections: number;
  readonly path: string;
  readonly method?: 'GET' | 'HEAD';
  /** Requests that a connection sends in one round. */
  readonly atOnce: number;
  readonly rounds: number;
}

const open = ({ port, secure }: Readers): Promise<RawConnection> =>
  secure ? RawConnection.openSecurely(port) : RawConnection.open(port);

const requestOf = ({ method = 'GET', path }: Readers): string => `${method} ${path} HTTP/1.1\r\nHost: test\r\n\r\n`;

/** Opens the connections, sends one request over each, and reads the responses. */
async function readAll(readers: Readers): Promise<void> {
  const connections = await Promise.all(Array.from({ length: readers.connections }, () => open(readers)));
  await Promise.all(
    connections.map(async (connection) => {
      connection.send(requestOf(readers));
      await connection.response(readers.method === 'HEAD');
      connection.close();
    }),
  );
}

/**
 * Opens the connections and sends requests without reading responses. After each round it waits for a response of the operations
 * listener, so that the server has processed the round. Returns a function that closes the connections.
 */
async function sendUnread(readers: Readers, operationsPort: number): Promise<() => void> {
  const watch = await RawConnection.open(operationsPort);
  const connections = await Promise.all(Array.from({ length: readers.connections }, () => open(readers)));
  for (const { socket } of connections) socket.pause();
  const requests = requestOf(readers).repeat(readers.atOnce);
  for (let round = 0; round < readers.rounds; round += 1) {
    const stillOpen = connections.filter(({ socket }) => socket.writable);
    if (stillOpen.length === 0) break;
    for (const connection of stillOpen) connection.send(requests);
    watch.send('GET /nothing HTTP/1.1\r\nHost: test\r\n\r\n');
    await watch.response();
  }
  return () => {
    for (const connection of [watch, ...connections]) connection.close();
  };
}

for (const engine of ['uws', 'node']) {
  for (const secure of [true, false]) {
    const transport = secure ? 'TLS' : 'plain HTTP';
    test(`on ${engine}, ${transport} clients that do not read responses use little memory of the server`, {
      skip: process.platform !== 'linux' && 'reads /proc',
    }, async (t) => {
      const folder = temporaryFolder(t);
      const settings: Record<string, string> = { SVC_DATA_DIR: join(folder, 'data'), SVC_LISTENER: engine };
      if (secure) {
        const { certificateFile, keyFile } = writeCertificate(folder, createSelfSignedCertificate('localhost'));
        Object.assign(settings, { SVC_TLS_CERT: certificateFile, SVC_TLS_KEY: keyFile });
      }
      const served = new ServedProcess(t, settings);
      const ports = await served.ports();
      const pid = served.child.pid as number;
      const api = { port: ports.public, secure };
      const operations = { port: ports.operations, secure: false };
      // Each connection requests at least 64 MB more than the buffers of the operating system, which have 2.6 MB per connection.
      const attacks: readonly Readers[] = [
        { ...api, path: '/v1/personal-loans/openapi.json', connections: 10, atOnce: 1, rounds: 80 },
        { ...api, path: '/v1/personal-loans/openapi.json', connections: 500, atOnce: 1, rounds: 20 },
        { ...api, path: '/w/widget.js', connections: 4, atOnce: 200, rounds: 5 },
        { ...api, path: '/w/widget.js', method: 'HEAD', connections: 4, atOnce: 100, rounds: 600 },
        { ...operations, path: '/nothing', connections: 4, atOnce: 20_000, rounds: 4 },
      ];
      for (const attack of attacks) await readAll(attack);
      const readBytes = peakBytes(pid);
      for (const attack of attacks) {
        resetPeak(pid);
        const close = await sendUnread(attack, ports.operations);
        const moreBytes = peakBytes(pid) - readBytes;
        close();
        const name = `${attack.connections} connections, ${attack.path}`;
        assert.ok(moreBytes < moreBytesMax, `${name}: ${Math.round(moreBytes / mebibyte)} MiB more`);
      }
    });
  }
}
