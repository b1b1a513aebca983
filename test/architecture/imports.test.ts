import assert from 'node:assert/strict';
import { basename } from 'node:path';
import { test } from 'node:test';
import { type SourceFile, sourceFiles } from './source-tree.ts';

/**
 * What each folder of `src/` may import from the others: the picture in docs/contributing/architecture.md as data. Whatever is not
 * listed is forbidden, so a new dependency between folders is a decision somebody takes here.
 */
const mayImport: Readonly<Record<string, readonly string[]>> = {
  domain: ['bounds'],
  files: [],
  metrics: ['bounds', 'domain'],
  logs: ['bounds', 'domain', 'http'],
  secrets: ['files'],
  verticals: ['bounds', 'domain'],
  tls: ['bounds', 'domain'],
  http: ['bounds', 'domain', 'tls'],
  events: ['bounds', 'domain', 'files'],
  'user-agents': ['events'],
  offers: ['bounds', 'domain', 'files', 'verticals'],
  catalogs: ['offers', 'verticals'],
  logos: ['bounds', 'domain'],
  access: ['bounds', 'domain', 'files', 'verticals'],
  sessions: ['bounds', 'domain', 'events', 'offers', 'secrets', 'verticals'],
  journal: ['bounds', 'domain', 'events', 'files', 'secrets', 'sessions', 'verticals'],
  clicks: ['bounds', 'domain', 'events', 'offers', 'secrets', 'sessions'],
  confirmations: ['bounds', 'clicks', 'domain', 'sessions'],
  widgets: ['bounds', 'domain', 'events', 'offers', 'secrets', 'sessions'],
  analytics: ['bounds', 'confirmations', 'domain', 'events', 'files', 'secrets', 'sessions'],
  operations: [
    'analytics',
    'bounds',
    'clicks',
    'confirmations',
    'domain',
    'events',
    'journal',
    'offers',
    'sessions',
    'secrets',
    'user-agents',
    'verticals',
    'widgets',
  ],
  faces: [
    'access',
    'bounds',
    'domain',
    'http',
    'logos',
    'metrics',
    'offers',
    'operations',
    'secrets',
    'sessions',
    'verticals',
    'widgets',
  ],
  // Describes the doors, so it knows what they take and answer; they know nothing of it.
  openapi: [
    'bounds',
    'config',
    'domain',
    'events',
    'faces',
    'offers',
    'operations',
    'sessions',
    'verticals',
    'widgets',
  ],
  config: ['access', 'bounds', 'domain', 'tls'],
  // Reads what the benchmarks left in a file; nothing of the service, and nothing in bench/.
  capacity: ['bounds', 'domain'],
  // Runs in browsers, bundled on its own: nothing of the server goes along, and nothing here imports it.
  'widget-client': [],
  cli: [
    'access',
    'analytics',
    'bounds',
    'capacity',
    'catalogs',
    'config',
    'confirmations',
    'domain',
    'events',
    'files',
    'logos',
    'logs',
    'offers',
    'operations',
    'secrets',
    'service',
    'sessions',
    'tls',
    'verticals',
  ],
};

/** Files that stand in `src/` itself, and the composition root, which like the public entry may see everything. */
const files: Readonly<Record<string, readonly string[] | 'everything'>> = {
  bounds: [],
  closers: [],
  service: 'everything',
  index: 'everything',
};

/** The ports, and rules without I/O, as operations and faces may see them. Everything else in these folders may be an adapter behind one. */
const portsOnly: Readonly<Record<string, readonly string[]>> = {
  http: ['header-text.ts', 'listener.ts'],
  events: ['event-log.ts', 'ledger-record.ts'],
  analytics: ['analytics.ts', 'cohort-rules.ts', 'page-cursors.ts'],
  journal: ['journal.ts'],
};

/** Packages that only one place may know. */
const packageHomes: Readonly<Record<string, readonly string[]>> = {
  'uWebSockets.js': ['src/http/uws-listener.ts'],
  'uWebSockets.js-glibc-2.38': ['src/http/uws-listener.ts'],
  piscina: ['src/offers/'],
  'better-sqlite3': ['src/access/', 'src/analytics/', 'src/events/folder-lock.ts'],
  'prom-client': ['src/metrics/'],
  commander: ['src/cli/'],
  'jsonc-parser': ['src/cli/', 'src/confirmations/'],
  bowser: ['src/user-agents/'],
  'crawler-user-agents': ['src/user-agents/'],
};

const sources = sourceFiles('src', 'workers');
const inSrc = sources.filter(({ path }) => path.startsWith('src/'));

function placeOf(path: string): string {
  return path.split('/')[1]!.replace(/\.ts$/, '');
}

function violations(files: readonly SourceFile[], broken: (file: SourceFile) => readonly string[]): string[] {
  return files.flatMap((file) => broken(file).map((what) => `${file.path}: ${what}`));
}

test('every folder of src has its row in the table of imports', () => {
  const places = new Set(inSrc.map(({ path }) => placeOf(path)));
  assert.deepEqual([...places].sort(), [...Object.keys(mayImport), ...Object.keys(files)].sort());
});

test('imports go only where the table lets them', () => {
  const found = violations(inSrc, ({ path, ownImports }) => {
    const place = placeOf(path);
    const allowed = files[place] ?? mayImport[place] ?? [];
    if (allowed === 'everything') return [];
    return ownImports.filter((to) => {
      if (to.startsWith('workers/')) return false;
      const target = placeOf(to);
      return target !== place && !allowed.includes(target);
    });
  });
  assert.deepEqual(found, []);
});

test('operations and faces see ports, never the adapters behind them', () => {
  const callers = inSrc.filter(({ path }) => /^src\/(operations|faces)\//.test(path));
  const found = violations(callers, ({ ownImports }) =>
    ownImports.filter((to) => {
      const ports = portsOnly[placeOf(to)];
      return (
        (ports !== undefined && !ports.includes(basename(to))) ||
        /\/(memory|sqlite|pool|in-thread|thread|file|node|uws)-[a-z-]+\.ts$/.test(to)
      );
    }),
  );
  assert.deepEqual(found, []);
});

test('a package is known only where it is at home', () => {
  const found = violations(sources, ({ path, packages }) =>
    packages.filter((name) => {
      const homes = packageHomes[name];
      return homes !== undefined && !homes.some((home) => path.startsWith(home));
    }),
  );
  assert.deepEqual(found, []);
});

test('no import leads back to where it came from', () => {
  const byPath = new Map(sources.map((file) => [file.path, file]));
  // What only names a type is gone when the code runs, so it closes no circle.
  const runtimeImports = (file: SourceFile): string[] => {
    const code = file.text.replaceAll(/import type [^;]+;/g, '');
    return file.ownImports.filter((to) => to.startsWith('src/') && code.includes(`/${basename(to)}'`));
  };
  const finished = new Set<string>();
  const circles: string[] = [];
  const visit = (path: string, trail: readonly string[]): void => {
    if (trail.includes(path)) circles.push([...trail.slice(trail.indexOf(path)), path].join(' -> '));
    if (finished.has(path) || trail.includes(path)) return;
    const file = byPath.get(path);
    if (file !== undefined) for (const to of runtimeImports(file)) visit(to, [...trail, path]);
    finished.add(path);
  };
  for (const { path } of sources) visit(path, []);
  assert.deepEqual(circles, []);
});
