import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join, normalize, relative } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('../..', import.meta.url));

export interface SourceFile {
  /** Path relative to the root of the project, with forward slashes. */
  readonly path: string;
  readonly text: string;
  /** Paths of the project files that the file imports, or starts as a thread or process. */
  readonly ownImports: readonly string[];
  /** Packages and `node:` modules that the file imports. */
  readonly packages: readonly string[];
}

/** Returns all TypeScript files, also with JSX, in these folders of the project, except declaration files. */
export function sourceFiles(...folders: readonly string[]): SourceFile[] {
  return folders.flatMap((folder) =>
    readdirSync(join(root, folder), { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile() && /\.(c?ts|tsx)$/.test(entry.name) && !entry.name.endsWith('.d.ts'))
      .map((entry) => read(join(entry.parentPath, entry.name))),
  );
}

/** Returns the paths of the sources that no entry file imports or starts, directly or indirectly. */
export function deadFiles(sources: readonly SourceFile[], entries: readonly string[]): string[] {
  const reached = findReachable(new Map(sources.map(({ path, ownImports }) => [path, ownImports])), entries);
  return sources.map(({ path }) => path).filter((path) => !reached.has(path));
}

/** Returns the files or folders that import themselves through other files or folders. */
export function findCircular(imports: ReadonlyMap<string, Iterable<string>>): string[] {
  return [...imports.keys()].filter((node) => findReachable(imports, imports.get(node)!).has(node));
}

/** Returns `starts` and everything that they import, directly or indirectly. */
function findReachable(imports: ReadonlyMap<string, Iterable<string>>, starts: Iterable<string>): Set<string> {
  const reached = new Set<string>();
  const queue = [...starts];
  for (let node = queue.pop(); node !== undefined; node = queue.pop()) {
    if (reached.has(node)) continue;
    reached.add(node);
    queue.push(...(imports.get(node) ?? []));
  }
  return reached;
}

function read(absolute: string): SourceFile {
  const path = relative(root, absolute);
  const text = readFileSync(absolute, 'utf8');
  const code = text.replaceAll(/^\s*(\/\/|\/?\*).*$/gm, '');
  const specifiers = [
    ...[...code.matchAll(/\b(?:from|import|require)\s*\(?\s*'([^']+)'/g)].map((match) => match[1]!),
    // Paths in `new URL` are always relative, even without a leading dot.
    ...[...code.matchAll(/new URL\(\s*'([^']+\.c?ts)'\s*,\s*import\.meta\.url\)/g)].map((match) => `./${match[1]!}`),
  ];
  return {
    path,
    text,
    ownImports: specifiers.filter((name) => name.startsWith('.')).map((name) => normalize(join(dirname(path), name))),
    packages: specifiers.filter((name) => !name.startsWith('.')),
  };
}
