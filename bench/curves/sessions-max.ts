import { fileURLToPath } from 'node:url';
import { runChild } from '../target/child-process.ts';

const launcherPath = fileURLToPath(new URL('../../bin/marketplace', import.meta.url));

/** The most live sessions that the service would hold here, as it sets it itself when nobody says otherwise. */
export async function readSessionsMax(): Promise<number> {
  const { SVC_MAX_SESSIONS: _, ...env } = process.env;
  const output = await runChild(launcherPath, ['check-config'], { env, timeoutMs: 30_000 });
  return parseSessionsMax(output);
}

/** Out of what `check-config` prints. */
export function parseSessionsMax(output: string): number {
  const value = /^SVC_MAX_SESSIONS +(\d+)/m.exec(output)?.[1];
  if (value === undefined) throw new Error('check-config does not tell SVC_MAX_SESSIONS');
  return Number(value);
}
