import { once } from 'node:events';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { BaselineResponse } from '../baselines/baseline-response.ts';
import type { BaselineServerKind } from '../result/bench-result.ts';
import type { LoadTarget } from './load-target.ts';
import { spawnChildProcess, stopChildProcess } from './owned-resources.ts';
import { addProbeToEnv, ProcessProbe } from './process-probe.ts';

const uwsServer = fileURLToPath(new URL('../baselines/uws-server.ts', import.meta.url));
const scripts: Readonly<Record<BaselineServerKind, string>> = {
  bare: uwsServer,
  synced: uwsServer,
  'node-http': fileURLToPath(new URL('../baselines/node-http-server.ts', import.meta.url)),
  fastify: fileURLToPath(new URL('../baselines/fastify-server.ts', import.meta.url)),
};

/** Starts a baseline server. The response file is created in `folder`, and the caller deletes the folder. */
export async function startBaselineServer(
  kind: BaselineServerKind,
  answers: readonly BaselineResponse[],
  folder: string,
): Promise<LoadTarget> {
  const file = join(folder, `answers-${kind}.json`);
  await writeFile(file, JSON.stringify(answers));
  const child = spawnChildProcess(process.execPath, [scripts[kind], file, kind], {
    env: addProbeToEnv(process.env),
    stdio: ['ignore', 'pipe', 'inherit', 'ipc'],
  });
  const ended = once(child, 'close').then(() => {
    throw new Error(`the baseline ${kind} exited before it listened`);
  });
  const [line] = (await Promise.race([once(child.stdout!, 'data'), ended])) as [Buffer];
  ended.catch(() => {});
  return {
    port: Number(line.toString()),
    pid: child.pid!,
    probe: new ProcessProbe(child),
    close: () => stopChildProcess(child),
  };
}
