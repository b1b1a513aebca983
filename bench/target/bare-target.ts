import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { spawnOwned, stopOwned } from './child-process.ts';
import type { Target } from './target.ts';

const script = fileURLToPath(new URL('../bare-server.ts', import.meta.url));

/** The answer the bare server gives to everything on its one route. */
export interface BareRoute {
  readonly method: 'GET' | 'POST';
  readonly path: string;
  readonly status: number;
  readonly bodyBytes: number;
}

export async function startBareTarget(route: BareRoute): Promise<Target> {
  const args = [script, route.method, route.path, String(route.status), String(route.bodyBytes)];
  const child = spawnOwned(process.execPath, args, { stdio: ['ignore', 'pipe', 'inherit'] });
  const ended = once(child, 'close').then(() => {
    throw new Error('the bare server ended before it listened');
  });
  const [line] = (await Promise.race([once(child.stdout!, 'data'), ended])) as [Buffer];
  ended.catch(() => {});
  return { port: Number(line.toString()), pid: child.pid!, close: () => stopOwned(child) };
}
