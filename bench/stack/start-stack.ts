import { execFileSync } from 'node:child_process';
import { once } from 'node:events';
import { chownSync, existsSync, readdirSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { type LoadTarget, listChildPids } from '../target/load-target.ts';
import {
  createTemporaryFolder,
  runChildProcess,
  spawnChildProcess,
  stopChildProcess,
} from '../target/owned-resources.ts';
import { addProbeToEnv, ProcessProbe } from '../target/process-probe.ts';

/** Prepared JSON text of an offer. The comparison server writes the click URL between `head` and `tail`. */
interface OfferFragment {
  readonly id: string;
  readonly head: string;
  readonly tail: string;
  readonly lenderUrl: string;
}

/** Settings that the comparison server reads from a file. */
export interface StackServerSettings {
  readonly redisSocket: string;
  /** Folder of the Unix socket of PostgreSQL. */
  readonly databaseSocket: string;
  readonly keys: readonly string[];
  readonly offers: readonly OfferFragment[];
  /** Members of an answer of `GET /marketplace` beside the session and the offers, as JSON text without braces. */
  readonly envelope: string;
  /** Path of the vertical, such as `/v1/personal-loans`. */
  readonly basePath: string;
  /** Headers of every response, the same as those of the service. */
  readonly headers: Readonly<Record<string, string>>;
}

const serverScript = fileURLToPath(new URL('./stack-server.ts', import.meta.url));
const startTimeoutMs = 30_000;
const pollMs = 50;

/** Returns the folder of the PostgreSQL programs, where Debian's packages install them; null if PostgreSQL is not installed. */
function findPostgresPrograms(): string | null {
  const root = '/usr/lib/postgresql';
  if (!existsSync(root)) return null;
  const versions = readdirSync(root).toSorted((one, other) => Number(other) - Number(one));
  return versions.map((version) => join(root, version, 'bin')).find((bin) => existsSync(join(bin, 'initdb'))) ?? null;
}

/** Returns why the comparison server cannot run on this machine; null if it can. */
export function findStackProblem(): string | null {
  if (findPostgresPrograms() === null || !existsSync('/usr/bin/redis-server'))
    return 'needs Redis and PostgreSQL: apt-get install redis-server postgresql';
  return null;
}

/** Returns the user and group under which PostgreSQL runs if this process runs as root, because PostgreSQL refuses to run as root. */
function databaseUser(): { readonly uid?: number; readonly gid?: number } {
  if (process.getuid?.() !== 0) return {};
  const id = (option: string) => Number(execFileSync('id', [option, 'postgres'], { encoding: 'utf8' }));
  return { uid: id('-u'), gid: id('-g') };
}

/** Starts Redis, PostgreSQL and the comparison server, each with new data in `parent`. `close` stops them and deletes the data. */
export async function startStack(
  parent: string,
  settings: Omit<StackServerSettings, 'redisSocket' | 'databaseSocket'>,
): Promise<LoadTarget> {
  const folder = await createTemporaryFolder(parent, 'stack-');
  const started: { close(): Promise<void> }[] = [{ close: () => folder.remove() }];
  const close = async () => {
    for (const each of started.splice(0).reverse()) await each.close();
  };
  try {
    const database = await startPostgres(folder.path);
    started.push(database);
    const redisSocket = join(folder.path, 'redis.sock');
    const redis = spawnChildProcess(
      'redis-server',
      ['--port', '0', '--unixsocket', redisSocket, '--dir', folder.path, '--save', '', '--appendonly', 'no'],
      { stdio: 'ignore' },
    );
    started.push({ close: () => stopChildProcess(redis) });
    await waitFor('Redis', () => existsSync(redisSocket));

    const settingsFile = join(folder.path, 'settings.json');
    await writeFile(settingsFile, JSON.stringify({ ...settings, redisSocket, databaseSocket: database.socketFolder }));
    const server = spawnChildProcess(process.execPath, [serverScript, settingsFile], {
      env: addProbeToEnv({ ...process.env, NODE_ENV: 'production' }),
      stdio: ['ignore', 'pipe', 'inherit', 'ipc'],
    });
    started.push({ close: () => stopChildProcess(server) });
    const ended = once(server, 'close').then(() => {
      throw new Error('the comparison server exited before it listened');
    });
    const [line] = (await Promise.race([once(server.stdout!, 'data'), ended])) as [Buffer];
    ended.catch(() => {});
    return {
      port: Number(line.toString()),
      pid: server.pid!,
      otherPids: () => [redis.pid!, database.pid, ...listChildPids(database.pid)],
      probe: new ProcessProbe(server),
      close,
    };
  } catch (error) {
    await close();
    throw error;
  }
}

async function startPostgres(folder: string) {
  const programs = findPostgresPrograms()!;
  const user = databaseUser();
  if (user.uid !== undefined) chownSync(folder, user.uid, user.gid!);
  const data = join(folder, 'postgres');
  const as = user.uid === undefined ? [] : ['setpriv', `--reuid=${user.uid}`, `--regid=${user.gid}`, '--clear-groups'];
  const run = (program: string, args: readonly string[]) => [...as, join(programs, program), ...args] as const;
  const [command, ...args] = run('initdb', [
    '-D',
    data,
    '-U',
    'bench',
    '-A',
    'trust',
    '-E',
    'UTF8',
    '--no-locale',
    '-N',
  ]);
  await runChildProcess(command!, args, { timeoutMs: startTimeoutMs });
  const settings = ['synchronous_commit=on', 'shared_buffers=512MB', 'max_wal_size=4GB'].flatMap((each) => [
    '-c',
    each,
  ]);
  const [postgres, ...options] = run('postgres', ['-D', data, '-k', folder, '-c', 'listen_addresses=', ...settings]);
  // `setpriv` replaces itself by PostgreSQL, so the process id is that of PostgreSQL.
  const child = spawnChildProcess(postgres!, options, { stdio: 'ignore' });
  const [createDatabase, ...createArgs] = run('createdb', ['-h', folder, '-U', 'bench', 'bench']);
  await waitFor('PostgreSQL', () => existsSync(join(folder, '.s.PGSQL.5432')));
  await retry('PostgreSQL', () => runChildProcess(createDatabase!, createArgs, { timeoutMs: startTimeoutMs }));
  return {
    pid: child.pid!,
    socketFolder: folder,
    // SIGINT is the fast shutdown of PostgreSQL; SIGTERM would wait until all connections are closed.
    close: async () => {
      child.kill('SIGINT');
      await stopChildProcess(child);
    },
  };
}

async function waitFor(name: string, isReady: () => boolean): Promise<void> {
  for (let waitedMs = 0; !isReady(); waitedMs += pollMs) {
    if (waitedMs > startTimeoutMs) throw new Error(`${name} was not ready after ${startTimeoutMs / 1_000} s`);
    await sleep(pollMs);
  }
}

async function retry(name: string, attempt: () => Promise<unknown>): Promise<void> {
  for (let waitedMs = 0; ; waitedMs += 10 * pollMs) {
    try {
      await attempt();
      return;
    } catch (error) {
      if (waitedMs > startTimeoutMs) throw new Error(`${name} did not accept connections`, { cause: error });
      await sleep(10 * pollMs);
    }
  }
}
