import assert from 'node:assert/strict';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import process from 'node:process';
import { commandsOf } from '../docs/page-commands.ts';
import { checkout, copyCheckout } from './copy-checkout.ts';
import { runNpm, runToEnd } from './run-to-end.ts';

interface PackedFile {
  readonly path: string;
  readonly size: number;
}

export interface InstalledPackage {
  /** Folder of a project in which only the package is installed. */
  readonly project: string;
  /** Folder of the installed package. */
  readonly home: string;
  /** Files and size of the tarball. */
  readonly files: readonly PackedFile[];
  readonly packedBytes: number;
  remove(): void;
}

/** Commands of docs/embedding.md, which install the tarball in the current folder and then run `program.mjs`. */
export const documentedCommands = commandsOf(readFileSync(join(checkout, 'docs/embedding.md'), 'utf8'))
  .trim()
  .split('\n');

/** Packs a clean copy of the checkout, and installs the tarball in an empty folder with the commands of docs/embedding.md. */
export async function installPackage(): Promise<InstalledPackage> {
  const root = mkdtempSync(join(tmpdir(), 'marketplace-package-'));
  const remove = () => rmSync(root, { recursive: true, force: true });
  try {
    const source = join(root, 'checkout');
    copyCheckout(source);
    for (const installed of ['node_modules', '.node']) {
      if (existsSync(join(checkout, installed))) symlinkSync(join(checkout, installed), join(source, installed));
    }
    const project = join(root, 'project');
    mkdirSync(project);
    const pack = join(source, 'bin', 'pack-package.ts');
    const report = await runToEnd(process.execPath, [pack, '--json', '--pack-destination', project], {
      folder: source,
    });
    const [packed] = packReport(report);
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

interface PackReport {
  readonly filename: string;
  readonly size: number;
  readonly files: readonly PackedFile[];
}

/** Some versions of npm print other lines before the report. */
function packReport(output: string): readonly [PackReport] {
  return JSON.parse(output.slice(output.search(/^\[$/m)));
}
