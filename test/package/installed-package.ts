import { existsSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { checkout, copyCheckout } from './copy-checkout.ts';
import { runNpm } from './run-to-end.ts';

export interface PackedFile {
  readonly path: string;
  readonly size: number;
}

export interface InstalledPackage {
  /** A project with nothing in it but the package, and whatever a test puts there. */
  readonly project: string;
  /** The package's own folder in there. */
  readonly home: string;
  /** Of the tarball: its files, and its bytes. */
  readonly files: readonly PackedFile[];
  readonly packedBytes: number;
  remove(): void;
}

/** Has npm pack a clean copy of the checkout, and install the tarball in an empty project. */
export async function installPackage(): Promise<InstalledPackage> {
  const root = mkdtempSync(join(tmpdir(), 'marketplace-package-'));
  const remove = () => rmSync(root, { recursive: true, force: true });
  try {
    const source = join(root, 'checkout');
    copyCheckout(source);
    for (const installed of ['node_modules', '.node']) {
      if (existsSync(join(checkout, installed))) symlinkSync(join(checkout, installed), join(source, installed));
    }
    const [packed] = packReport(await runNpm(['pack', '--json', '--pack-destination', root], source));
    const project = join(root, 'project');
    mkdirSync(project);
    writeFileSync(join(project, 'package.json'), '{ "name": "embedder", "private": true, "type": "module" }\n');
    await runNpm(['install', join(root, packed.filename)], project);
    const home = join(project, 'node_modules', 'svc-marketplace');
    return { project, home, files: packed.files, packedBytes: packed.size, remove };
  } catch (fault) {
    remove();
    throw fault;
  }
}

interface PackReport {
  readonly filename: string;
  readonly size: number;
  readonly files: readonly PackedFile[];
}

/** Some versions of npm put the headings of scripts before the report. */
function packReport(output: string): readonly [PackReport] {
  return JSON.parse(output.slice(output.search(/^\[$/m)));
}
