import assert from 'node:assert/strict';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { test } from 'node:test';
import { readProcessUsage } from '../../../bench/target/load-target.ts';
import { spawnChildProcess } from '../../../bench/target/owned-resources.ts';
import { addProbeToEnv, ProcessProbe } from '../../../bench/target/process-probe.ts';
import { plainEnvironment } from '../../support/plain-environment.ts';

/** Starts a program as the benchmark starts the service: with a launcher that replaces itself with Node.js. */
function start(program: string, env = addProbeToEnv(plainEnvironment())) {
  const child = spawnChildProcess('sh', ['-c', 'exec "$0" --input-type=module -e "$1"', process.execPath, program], {
    env,
    stdio: ['pipe', 'pipe', 'inherit', 'ipc'],
  });
  return { child, probe: new ProcessProbe(child), ended: once(child, 'close') };
}

/** A program that executes the commands on its standard input, and confirms each command on its standard output. */
const commandProgram = `
  import { createInterface } from 'node:readline';
  process.stdout.write('up\\n');
  for await (const line of createInterface({ input: process.stdin })) {
    const end = performance.now() + (line === 'block' ? 1500 : 300);
    if (line === 'block') while (performance.now() < end);
    if (line === 'allocate') for (let kept = []; performance.now() < end; ) { kept.push({ a: [1] }); if (kept.length > 1e5) kept = []; }
    process.stdout.write('done\\n');
  }`;

test('the process probe reports event loop delay, garbage collection and memory for each measurement', async () => {
  const { child, probe, ended } = start(commandProgram);
  await once(child.stdout!, 'data');
  const runCommand = async (line: string) => {
    await probe.start();
    child.stdin!.write(`${line}\n`);
    await once(child.stdout!, 'data');
    return (await probe.stop())!;
  };
  const blocked = await runCommand('block');
  assert.ok(blocked.eventLoopDelayMs.max > 1_250, String(blocked.eventLoopDelayMs.max));
  assert.ok(blocked.eventLoopDelayMs.p50 <= blocked.eventLoopDelayMs.p99);
  const collected = await runCommand('allocate');
  assert.ok(collected.gc.count > 0);
  assert.ok(collected.gc.longestMs > 0 && collected.gc.longestMs <= collected.gc.totalMs);
  assert.ok(collected.rssMiB > collected.heapUsedMiB && collected.heapUsedMiB > 1);
  const idle = await runCommand('nothing');
  assert.ok(idle.eventLoopDelayMs.max < blocked.eventLoopDelayMs.max);
  assert.ok(idle.gc.count < collected.gc.count);
  child.stdin!.end();
  assert.deepEqual(await ended, [0, null]);
});

test('the process probe is inactive in worker threads and child processes, and allows the process to exit', async () => {
  const program = `
    import { spawnSync } from 'node:child_process';
    import { Worker } from 'node:worker_threads';
    const listeners = 'process.listenerCount("message")';
    const child = spawnSync(process.execPath, ['-p', listeners], { encoding: 'utf8' });
    new Worker('import { parentPort } from "node:worker_threads"; parentPort.postMessage(' + listeners + ')', { eval: true })
      .once('message', (worker) => console.log(JSON.stringify([process.listenerCount('message'), worker, Number(child.stdout)])));`;
  const { child, probe, ended } = start(program);
  const printed = once(child.stdout!, 'data') as Promise<[Buffer]>;
  const [line] = await Promise.race([printed, ended.then(() => ['nothing'])]);
  assert.deepEqual(JSON.parse(String(line)), [1, 0, 0]);
  assert.deepEqual(await ended, [0, null]);
  assert.equal(await probe.stop(), null);
});

test('reads the CPU time of a running process in seconds, and returns null for a process that does not exist', {
  skip: !existsSync('/proc/self/schedstat'),
}, () => {
  const before = readProcessUsage(process.pid)!;
  let after = before;
  // Reading the CPU time uses CPU time.
  const { user, system } = process.cpuUsage();
  while (after.mainThreadSeconds - before.mainThreadSeconds < 0.1) after = readProcessUsage(process.pid)!;
  const used = process.cpuUsage({ user, system });
  assert.ok((used.user + used.system) / 1e6 > 0.09);
  assert.ok(after.allThreadsSeconds - before.allThreadsSeconds > 0);
  assert.ok(after.mainThreadSeconds <= after.allThreadsSeconds);
  assert.equal(readProcessUsage(2 ** 30), null);
});
