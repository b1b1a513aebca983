/**
 * Runs the commands that `run-marketplace.ts` sends over IPC, with the arguments, environment and working directory of the message.
 * Returns the output and the exit code of each.
 */
import process from 'node:process';

export interface HostedCommand {
  readonly args: readonly string[];
  readonly env: NodeJS.ProcessEnv;
  readonly folder: string;
}

const commandLine = new URL('../../../src/cli/command-line.ts', import.meta.url);
let printed = { stdout: '', stderr: '' };
let count = 0;

for (const name of ['stdout', 'stderr'] as const) {
  const stream = process[name];
  // Each command adds its own listeners.
  stream.setMaxListeners(0);
  stream.write = (chunk: string | Uint8Array, ...rest: readonly unknown[]): boolean => {
    printed[name] += typeof chunk === 'string' ? chunk : Buffer.from(chunk).toString();
    const written = rest.at(-1);
    if (typeof written === 'function') queueMicrotask(() => written(null));
    return true;
  };
}

process.on('message', async ({ args, env, folder }: HostedCommand) => {
  printed = { stdout: '', stderr: '' };
  process.exitCode = 0;
  process.argv.splice(2, Number.POSITIVE_INFINITY, ...args);
  for (const name of Object.keys(process.env)) delete process.env[name];
  Object.assign(process.env, env);
  process.chdir(folder);
  // A new query makes Node.js run the module again; its imports stay loaded.
  await import(`${commandLine.href}?command=${count++}`);
  process.send!({ code: Number(process.exitCode), ...printed });
});
process.once('disconnect', () => process.exit());
