import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { keyFilePath } from '../../src/auth/key-file.ts';
import { plainEnvironment } from '../support/plain-environment.ts';

export interface ServedMarketplace {
  readonly port: number;
  readonly operationsPort: number;
  /** Standard output so far. */
  greeting(): string;
  /** Drains the server and waits for its exit. */
  stop(): Promise<void>;
}

/** Runs `marketplace serve` in its own process on free ports. Resolves when it serves. */
export async function serveMarketplace(
  dataDir: string,
  more: Readonly<Record<string, string>> = {},
): Promise<ServedMarketplace> {
  const settings = { SVC_DATA_DIR: dataDir, SVC_PORT: '0', SVC_OPS_PORT: '0', SVC_MATCHER_THREADS: '0' };
  const server = spawn(fileURLToPath(new URL('../../bin/marketplace', import.meta.url)), ['serve'], {
    env: { ...plainEnvironment(), ...settings, SVC_LOG_LEVEL: 'warn', ...more },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const ended = once(server, 'exit');
  // A first start prints more lines.
  const greeting = existsSync(keyFilePath(dataDir)) ? '' : String.raw`(?:.|\n)*first-keys\.txt`;
  const serving = new RegExp(
    String.raw`127\.0\.0\.1:(\d+)\/v1\/personal-loans, operations on 127\.0\.0\.1:(\d+)\n${greeting}`,
  );
  let printed = '';
  const ports = await new Promise<RegExpExecArray>((resolve, reject) => {
    server.once('error', reject);
    ended.then(() => reject(new Error(`the server exited before it served: ${printed}`)), reject);
    server.stdout.setEncoding('utf8').on('data', (text: string) => {
      printed += text;
      const found = serving.exec(printed);
      if (found !== null) resolve(found);
    });
  });
  return {
    port: Number(ports[1]),
    operationsPort: Number(ports[2]),
    greeting: () => printed,
    async stop() {
      server.kill('SIGTERM');
      await ended;
    },
  };
}
