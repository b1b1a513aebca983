import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, relative, sep } from 'node:path';
import process from 'node:process';
import { checkout, commandsOf } from '../docs/run-commands.ts';
import { plainEnvironment } from '../support/plain-environment.ts';

/** Maximum duration of one command on a busy machine. */
const commandTimeoutMs = 600_000;

/** Runs a command without settings of the service, and returns its standard output. Rejects with all output if it fails. */
export function runToEnd(command: string, args: readonly string[], folder: string): Promise<string> {
  return new Promise((resolve, reject) => {
    const options = { cwd: folder, env: plainEnvironment(), timeout: commandTimeoutMs };
    execFile(command, args, options, (error, stdout, stderr) => {
      if (error === null) resolve(stdout);
      else reject(new Error(`${[command, ...args].join(' ')} failed in ${folder}:\n${stdout}${stderr}`));
    });
  });
}

/** Runs npm with its cache, and again with the registry if that fails. */
async function runNpm(args: readonly string[], folder: string): Promise<string> {
  const npm = (preferred: string) =>
    runToEnd('npm', [...args, '--no-audit', '--no-fund', '--loglevel=error', preferred], folder);
  try {
    return await npm('--prefer-offline');
  } catch {
    return npm('--prefer-online');
  }
}

/** Files that a clean clone does not have, and the history. */
const excludedPaths =
  /^(node_modules|\.node|\.git|dist|data|test-artefacts|bench\/results|src\/web\/(widget|console)\/dist)(\/|$)/;

/** Commands of docs/embedding.md, which install the tarball in the current folder and then run `program.mjs`. */
export const documentedCommands = commandsOf(readFileSync(join(checkout, 'docs/embedding.md'), 'utf8'))
  .trim()
  .split('\n');

export type InstalledPackage = Awaited<ReturnType<typeof installPackage>>;

/**
 * Packs a clean copy of the checkout, and installs the tarball in an empty folder with the commands of docs/embedding.md. Returns the folder of
 * the project, the folder of the installed package, and the files and size of the tarball.
 */
export async function installPackage() {
  const root = mkdtempSync(join(tmpdir(), 'marketplace-package-'));
  const remove = () => rmSync(root, { recursive: true, force: true });
  try {
    const source = join(root, 'checkout');
    cpSync(checkout, source, {
      recursive: true,
      filter: (path) => !excludedPaths.test(relative(checkout, path).replaceAll(sep, '/')),
    });
    for (const installed of ['node_modules', '.node']) {
      if (existsSync(join(checkout, installed))) symlinkSync(join(checkout, installed), join(source, installed));
    }
    const project = join(root, 'project');
    mkdirSync(project);
    const pack = join(source, 'bin', 'pack-package.ts');
    const report = await runToEnd(process.execPath, [pack, '--json', '--pack-destination', project], source);
    // Some versions of npm print other lines before the report.
    const [packed] = JSON.parse(report.slice(report.search(/^\[$/m))) as [{ size: number; files: { path: string }[] }];
    for (const command of documentedCommands.slice(0, -1)) {
      const [program, ...args] = command.split(' ');
      assert.equal(program, 'npm');
      await runNpm(args, project);
    }
    const home = join(project, 'node_modules', 'svc-marketplace');
    return { project, home, files: packed.files, packedBytes: packed.size, remove };
  } catch (error) {
    remove();
    throw error;
  }
}
