import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import process from 'node:process';
import type { TestContext } from 'node:test';
import { plainEnvironment } from '../support/plain-environment.ts';
import { runToEnd } from './run-to-end.ts';
import { type Serving, startServing } from './start-serving.ts';

interface RunOrder {
  /** The image's. */
  readonly folder: string;
  /** By the folder each is mounted on, such as `/data`: folders of this machine. */
  readonly volumes: ReadonlyMap<string, string>;
  readonly command: readonly string[];
  readonly workFolder: string;
  readonly user: string;
  readonly env: Readonly<Record<string, string>>;
  /** Where it looks for programs; what the base image adds is `${PATH}`. */
  readonly programs: string;
}

interface RunningImage extends Serving {
  /** Of the server itself, on this machine. */
  readonly serverPid: number;
  /** Runs another command beside it, as the same user, and gives its standard output. Rejects when it fails. */
  exec(command: readonly string[]): Promise<string>;
}

/** The variable, as it is written in a Dockerfile. */
const basePrograms = /\$\{PATH\}/;

/** Whether this machine lets us give a process a root folder and process ids of its own. */
export function canContain(): boolean {
  return process.getuid?.() === 0 && spawnSync('unshare', ['--mount', '--pid', '--fork', 'true']).status === 0;
}

/**
 * The image's folder becomes the root, read-only but for the volumes, given in pairs; what it would have from its base are this machine's folders and this
 * Node.js. The command is the first process in there. It ends with whoever started it: `unshare --kill-child` asks for that too, but
 * the kernel forgets it when a process becomes another user.
 */
const contain = `
  set -e
  root=$1 node=$2 user=$3; shift 3
  mount --make-rprivate /
  mount --bind "$root" "$root"
  for name in bin lib lib64 usr etc dev; do
    [ -e "/$name" ] || continue
    mkdir "$root/$name"
    mount --rbind "/$name" "$root/$name"
  done
  mkdir "$root/proc" "$root/node"
  mount -t proc proc "$root/proc"
  mount --bind "$node" "$root/node"
  while [ "$1" != -- ]; do
    mount --bind "$2" "$root$1"
    shift 2
  done
  shift
  mount -o remount,bind,ro "$root"
  exec chroot "$root" setpriv --reuid="\${user%:*}" --regid="\${user#*:}" --clear-groups --pdeathsig=KILL env -i "$@"
`;

/** Runs an image's command the way a container does, as far as this machine can. */
export async function runImage(t: TestContext, order: RunOrder): Promise<RunningImage> {
  const { folder, volumes, workFolder, user, programs } = order;
  if (!canContain()) {
    const at = (path: string) => {
      const mounted = [...volumes].find(([place]) => path === place || path.startsWith(`${place}/`));
      if (mounted !== undefined) return mounted[1] + path.slice(mounted[0].length);
      return path.replace(/^\/app(?=\/|$)/, () => join(folder, 'app'));
    };
    const env = Object.entries(order.env).map(([name, value]) => [name, at(value)]);
    const PATH = at(programs.replace(basePrograms, process.env.PATH!));
    const options = { cwd: at(workFolder), env: { ...plainEnvironment(), ...Object.fromEntries(env), PATH } };
    const serving = await startServing(t, '/usr/bin/env', order.command, options);
    const exec = (command: readonly string[]) =>
      runToEnd('/usr/bin/env', command.map(at), { folder: options.cwd, env: options.env });
    return { ...serving, serverPid: serving.pid, exec };
  }
  const settings = Object.entries({ ...order.env, PATH: programs.replace(basePrograms, '/node:/usr/bin:/bin') }).map(
    ([name, value]) => `${name}=${value}`,
  );
  const inside = [
    folder,
    dirname(process.execPath),
    user,
    ...[...volumes].flat(),
    '--',
    `--chdir=${workFolder}`,
    ...settings,
    ...order.command,
  ];
  const args = ['--mount', '--pid', '--fork', '--kill-child', 'sh', '-c', contain, 'sh', ...inside];
  const serving = await startServing(t, 'unshare', args, {});
  const { pid } = serving;
  const serverPid = Number(readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8'));
  const [uid, gid] = user.split(':');
  const enter = [`--target=${serverPid}`, '--mount', '--pid', '--root', `--setuid=${uid}`, `--setgid=${gid}`];
  const exec = (command: readonly string[]) =>
    runToEnd('nsenter', [...enter, '/usr/bin/env', '-i', `--chdir=${workFolder}`, ...settings, ...command], { folder });
  return { ...serving, serverPid, exec };
}
