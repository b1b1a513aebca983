/**
 * Compiles the files of the package into `dist/`: `node bin/build-package.ts`. The folder `dist/` has the same structure as the checkout,
 * so relative paths differ only in the file extension.
 */
import { execFileSync } from 'node:child_process';
import { chmodSync, cpSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import process from 'node:process';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('..', import.meta.url));
const dist = join(root, 'dist');

rmSync(dist, { recursive: true, force: true });
runScript(join(root, 'node_modules', 'typescript', 'bin', 'tsc'), '-p', join(root, 'tsconfig.package.json'));
runScript(join(root, 'bin', 'build-web.ts'), join(dist, 'src', 'web'));
for (const folder of ['bench/capacity', 'src/openapi', 'src/verticals']) {
  cpSync(join(root, folder), join(dist, folder), {
    recursive: true,
    filter: (path) => !path.endsWith('.ts'),
  });
}
// Copies a few files instead of depending on swagger-ui-dist, which is ten times as large and whose dependency @scarf/scarf reports each
// installation.
for (const name of [
  'swagger-ui.css',
  'swagger-ui-bundle.js',
  'swagger-ui-bundle.js.LICENSE.txt',
  'LICENSE',
  'NOTICE',
]) {
  cpSync(join(root, 'node_modules', 'swagger-ui-dist', name), join(dist, 'src', 'openapi', 'swagger-ui', name));
}
for (const path of filesEndingWith('.js')) rewriteFile(path, rewriteThreadUrls);
rewriteFile(join(dist, 'src', 'openapi', 'docs-files.js'), (code) =>
  code.replaceAll("'swagger-ui-dist/", "'./swagger-ui/"),
);
for (const path of filesEndingWith('.d.ts')) rewriteFile(path, rewriteDeclarationImports);
const reachable = reachableDeclarations(join(dist, 'src', 'index.d.ts'));
for (const path of [...filesEndingWith('.d.ts'), ...filesEndingWith('.d.cts')]) if (!reachable.has(path)) rmSync(path);
chmodSync(join(dist, 'bin', 'launch.js'), 0o755);

function runScript(script: string, ...args: readonly string[]): void {
  execFileSync(process.execPath, [script, ...args], { stdio: ['ignore', 'inherit', 'inherit'] });
}

function filesEndingWith(ending: string): string[] {
  return readdirSync(dist, { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith(ending))
    .map((name) => join(dist, name));
}

function rewriteFile(path: string, change: (text: string) => string): void {
  writeFileSync(path, change(readFileSync(path, 'utf8')));
}

/**
 * Rewrites the URLs of thread and process entry points from `.ts` to `.js`, and from `.cts` to `.cjs`. The TypeScript compiler rewrites
 * file extensions in imports, but not in URLs.
 */
function rewriteThreadUrls(code: string): string {
  return code.replaceAll(/(new URL\('\.[^']*\.c?)ts', import\.meta\.url\)/g, "$1js', import.meta.url)");
}

/**
 * Rewrites the imports in declaration files from `.ts` to `.js`. The TypeScript compiler rewrites file extensions only
 * in JavaScript files, not in declaration files.
 */
function rewriteDeclarationImports(declarations: string): string {
  return declarations.replaceAll(/(\bfrom |\bimport\(|\bimport )(['"])(\.[^'"]*)\.ts\2/g, '$1$2$3.js$2');
}

/** Returns the declaration files that the package contains: the files that the entry point imports, directly or indirectly. */
function reachableDeclarations(entry: string): ReadonlySet<string> {
  const seen = new Set<string>();
  const queue = [entry];
  for (let path = queue.pop(); path !== undefined; path = queue.pop()) {
    if (seen.has(path)) continue;
    seen.add(path);
    const imports = readFileSync(path, 'utf8').matchAll(/\b(?:from |import\(|import )['"](\.[^'"]*)\.js['"]/g);
    for (const [, module] of imports) queue.push(join(dirname(path), `${module}.d.ts`));
  }
  return seen;
}
