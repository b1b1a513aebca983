import type { ChildProcess } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { spawnChildProcess } from '../target/owned-resources.ts';

const script = fileURLToPath(new URL('./main.ts', import.meta.url));

/** A running `make demo-console`, with the addresses and logins that it printed. */
export interface DemoProcess {
  readonly child: ChildProcess;
  readonly printed: string;
  readonly partnerUrl: string;
  readonly operatorUrl: string;
  /** API keys of the first vertical by kind, such as `live key` and `read-only key`. */
  readonly keys: Readonly<Record<string, string>>;
  readonly operatorToken: string;
}

/**
 * Starts the demo with one vertical on free ports, and resolves when it has printed the logins. The folder is written if it does not exist. The
 * caller stops the child process.
 */
export async function startDemoProcess(
  dataDir: string,
  vertical: string,
  environment: NodeJS.ProcessEnv = process.env,
): Promise<DemoProcess> {
  const child = spawnChildProcess(process.execPath, [script, '--vertical', vertical, dataDir], {
    env: { ...environment, SVC_PORT: '0', SVC_OPS_PORT: '0' },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  let printed = '';
  for await (const text of child.stdout!.setEncoding('utf8')) {
    printed += text;
    if (printed.includes('Ctrl-C')) break;
  }
  const find = (pattern: RegExp) => {
    const found = pattern.exec(printed);
    if (found === null) throw new Error(`demo-console printed no logins: ${printed}`);
    return found[1]!;
  };
  const keys = [...printed.matchAll(/^ {2}\S+ +(\S+ key) +(svc_\S+)$/gm)];
  return {
    child,
    printed,
    partnerUrl: find(/^Partner console: (\S+)$/m),
    operatorUrl: find(/^Operator console: (\S+)$/m),
    keys: Object.fromEntries(keys.map(([, kind, key]) => [kind, key])),
    operatorToken: find(/^ {2}(svc_operator_\S+)$/m),
  };
}
