/**
 * Builds the package and runs `npm pack` on a copy whose package.json has neither development dependencies nor scripts: `node
 * bin/pack-package.ts [arguments of npm pack]`.
 */
import { execFileSync } from 'node:child_process';
import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import process from 'node:process';
import { fileURLToPath } from 'node:url';
import './build-package.ts';

const root = fileURLToPath(new URL('..', import.meta.url));
const { devDependencies, scripts, ...manifest } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
const copy = mkdtempSync(join(tmpdir(), 'marketplace-pack-'));
try {
  writeFileSync(join(copy, 'package.json'), `${JSON.stringify(manifest, null, 2)}\n`);
  for (const path of ['LICENSE', 'README.md', ...manifest.files]) {
    cpSync(join(root, path), join(copy, path), { recursive: true });
  }
  execFileSync('npm', ['pack', copy, '--loglevel=error', ...process.argv.slice(2)], { stdio: 'inherit' });
} finally {
  rmSync(copy, { recursive: true });
}
