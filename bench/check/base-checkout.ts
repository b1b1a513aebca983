import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync, rmSync, symlinkSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { createTemporaryFolder } from '../target/owned-resources.ts';
import { currentCheckout } from '../target/service-target.ts';

/** Checkout with which the current checkout is compared. */
export interface BaseCheckout {
  readonly folder: string;
  /** Description for messages, such as `commit 0123456789ab`. */
  readonly description: string;
}

/**
 * Returns the checkout with which the current checkout is compared. `base` is a revision, or the folder of a checkout with installed
 * packages. Without `base`, the revision is the last Git tag, or before the first release the commit of the results in bench/README.md.
 * A revision is extracted into a new folder in `parent`, which is deleted when this process exits.
 */
export async function prepareBaseCheckout(base: string | undefined, parent: string): Promise<BaseCheckout> {
  if (base !== undefined && existsSync(join(base, 'package.json'))) return { folder: resolve(base), description: base };
  const revision = base ?? findLastTag() ?? readPublishedCommit();
  const commit = runGit('rev-parse', '--verify', '--quiet', '--end-of-options', `${revision}^{commit}`);
  if (commit === null) {
    throw new Error(
      `${revision} is no revision of this Git repository and no checkout; fetch it, or set BASE to another revision`,
    );
  }
  const { path } = await createTemporaryFolder(parent, 'base-');
  const archive = join(path, 'archive.tar');
  runGit('archive', '--output', archive, commit);
  execFileSync('tar', ['-xf', archive, '-C', path]);
  rmSync(archive);
  installPackages(path);
  return { folder: path, description: `commit ${commit.slice(0, 12)}` };
}

/** Installs the packages and builds the web pages of a checkout. Uses the packages of the current checkout if the lock file is the same. */
function installPackages(folder: string): void {
  const lockFile = (checkout: string) => readFileSync(join(checkout, 'package-lock.json'), 'utf8');
  const samePackages = lockFile(folder) === lockFile(currentCheckout);
  if (samePackages) symlinkSync(join(currentCheckout, 'node_modules'), join(folder, 'node_modules'));
  // Without `--old-file`, a lock file that is newer than the shared packages would make `make` replace them.
  const options = samePackages ? ['--old-file=node_modules/.package-lock.json'] : [];
  // The variables of an outer `make` do not apply to this checkout.
  const { MAKEFLAGS: _flags, MAKELEVEL: _level, MAKEOVERRIDES: _overrides, ...env } = process.env;
  execFileSync('make', ['--silent', ...options, 'install'], { cwd: folder, env, stdio: ['ignore', 2, 2] });
}

function findLastTag(): string | null {
  return runGit('describe', '--tags', '--abbrev=0');
}

function readPublishedCommit(): string {
  const file = join(currentCheckout, 'bench/capacity/reference-result.json');
  return (JSON.parse(readFileSync(file, 'utf8')) as { commit: string }).commit;
}

/** Returns the output of a Git command, or null if the command fails. */
function runGit(...args: string[]): string | null {
  try {
    const stdio = ['ignore', 'pipe', 'ignore'] as ('ignore' | 'pipe')[];
    return execFileSync('git', args, { cwd: currentCheckout, encoding: 'utf8', stdio }).trim();
  } catch {
    return null;
  }
}
