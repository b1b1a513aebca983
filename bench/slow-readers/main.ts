/**
 * Measures how clients that do not read replies affect others: latency of `POST /session` and peak memory with and without the
 * attack. Run it with `bin/with-node node bench/slow-readers/main.ts`; it takes about a minute. Linux only.
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { connect, type Socket } from 'node:net';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { createLoadPlan } from '../curves/load-point.ts';
import { writeRequests } from '../load/prepared-request.ts';
import { totalFailures } from '../open-loop/open-loop-plan.ts';
import { runOpenLoop } from '../open-loop/run-open-loop.ts';
import { runMain } from '../run-main.ts';
import { sessionRequest } from '../scenarios/requests.ts';
import { createTemporaryFolder } from '../target/owned-resources.ts';
import { type ServiceTarget, withServiceTarget } from '../target/service-target.ts';

const seconds = 10;
const perSecond = 200;
/** Number of connections that request 10 MB of responses each and stay open. */
const waitingConnections = 500;
/** Number of connections that send 512 kB of requests each and are then replaced by new connections. */
const replacedConnections = 2;
const replacedAfterMs = 100;

await runMain('slow-readers', async () => {
  const folder = await createTemporaryFolder(fileURLToPath(new URL('../..', import.meta.url)), 'slow-readers-');
  try {
    console.log('engine  attack  p50 ms  p99 ms  p99.9 ms  failed  peak MiB');
    for (const engine of ['uws', 'node']) {
      const options = { folder: folder.path, keys: 100, settings: { SVC_LISTENER: engine } };
      await withServiceTarget(options, (target) => measureEngine(engine, target, folder.path));
    }
  } finally {
    await folder.remove();
  }
});

async function measureEngine(engine: string, target: ServiceTarget, folder: string): Promise<void> {
  const requestsFile = join(folder, 'requests');
  await writeRequests(
    requestsFile,
    target.keys.map((key) => sessionRequest(key)),
  );
  const { port } = target;
  const plan = createLoadPlan({ port, requestsFile, singleUse: false, perSecond, warmUpSeconds: 2, seconds });
  for (const attacked of [false, true]) {
    writeFileSync(`/proc/${target.pid}/clear_refs`, '5');
    const stop = attacked ? startAttack(port) : () => {};
    const { latencyMs, refused, failed } = await runOpenLoop({ ...plan, connections: 64 });
    const { p50, p99, p999 } = latencyMs;
    const figures = [p50, p99, p999, refused + totalFailures(failed), peakMemoryMiB(target.pid)];
    const row = [engine, attacked ? 'yes' : 'no', ...figures.map((figure) => figure.toFixed(1))];
    console.log(row.map((cell) => cell.padEnd(8)).join(''));
    stop();
  }
}

function peakMemoryMiB(pid: number): number {
  return Number(/^VmHWM:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]) / 1024;
}

/** Starts the attack and returns a function that stops it. */
function startAttack(port: number): () => void {
  const sockets = new Set<Socket>();
  let stopped = false;
  const send = (path: string, times: number): Socket => {
    const socket = connect(port, '127.0.0.1');
    sockets.add(socket);
    socket.pause();
    socket.on('error', () => {});
    socket.once('close', () => sockets.delete(socket));
    socket.write(`GET ${path} HTTP/1.1\r\nHost: attack\r\n\r\n`.repeat(times));
    return socket;
  };
  const replace = async (path: string): Promise<void> => {
    while (!stopped) {
      const socket = send(path, 12_000);
      await sleep(replacedAfterMs);
      socket.destroy();
    }
  };
  void (async () => {
    // Sends two requests at a time, in two steps, so that the server has no reason to close the connection.
    for (let at = 0; at < waitingConnections && !stopped; at += 1) {
      send('/w/widget.js', 110);
      if (at % 2 === 1) await sleep(2);
    }
  })();
  for (let at = 0; at < replacedConnections; at += 1) void replace(at % 2 === 0 ? '/w/widget.js' : '/nothing');
  return () => {
    stopped = true;
    for (const socket of sockets) socket.destroy();
  };
}
