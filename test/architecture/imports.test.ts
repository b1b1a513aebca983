import assert from 'node:assert/strict';
import { basename } from 'node:path';
import { test } from 'node:test';
import { builtInVerticals } from '../../src/verticals/built-in-verticals.ts';
import { findCircular, type SourceFile, sourceFiles } from './source-tree.ts';

/**
 * Allowed imports between the folders of the package, which are the folders of `src/` and the capacity planner in `bench/capacity/`
 * (docs/contributing/architecture.md). All other imports between folders fail the test, so a new dependency between folders requires a
 * change of this table.
 */
const mayImport = parseTable(`
analytics: bounds clicks confirmations domain event-log experiments files ids ledger
audit: bounds domain files
auth: audit bounds domain files ids secrets
bench/capacity: bounds domain files
bounds:
budgets: bounds catalogs clicks domain files ids ledger matching quotas
catalogs: bounds domain files matching
cli: analytics audit auth bench/capacity bounds catalogs config confirmations domain event-log experiments files ids ledger
  logging operations secrets server sessions snapshots supervisor tls verticals
clicks: bounds domain ids ledger
config: auth bounds domain tls
confirmations: bounds clicks domain ids ledger
domain: bounds
embedded: audit auth bounds catalogs config confirmations domain matching operations tls
event-log: bounds domain files
experiments: bounds domain statistics
files: bounds domain
http/engines: bounds config domain tls
http/routes: analytics audit auth bounds budgets catalogs domain files http/engines ids metrics operations secrets sessions
  shards widgets
ids: bounds domain secrets
journal: bounds domain event-log files ids secrets
ledger: bounds domain event-log ids
logging: bounds domain http/engines
matching: bounds domain
metrics: bounds domain ledger
openapi: bounds catalogs config domain http/routes ids ledger matching operations widgets
operations: analytics audit auth bounds budgets catalogs clicks confirmations domain event-log experiments ids journal ledger
  matching secrets sessions shards statistics user-agents widgets
quotas: bounds domain files
secrets: bounds domain files
sessions: bounds domain experiments ids ledger matching secrets
shards: bounds domain http/engines ids
snapshots: bounds domain event-log files ledger
statistics: bounds domain
supervisor: auth bounds config domain files http/engines http/routes logging metrics operations
tls: bounds domain files
user-agents: ledger
verticals: catalogs verticals/*
verticals/*: bounds catalogs domain matching
web/console: audit confirmations experiments http/routes operations
web/widget:
widgets: bounds catalogs domain ledger matching
`);

function parseTable(text: string): Readonly<Record<string, readonly string[]>> {
  const rows = text.trim().split(/\n(?! )/);
  return Object.fromEntries(rows.map((row) => [row.split(':', 1)[0], row.split(/\s+/).slice(1)]));
}

/** The composition root, which may import every folder. */
const compositionRoot = ['server', 'index'];

/** Files of these folders that operations and routes may import: ports and rules without I/O. The other files may be adapters. */
const portsOnly: Readonly<Record<string, readonly string[]>> = {
  'http/engines': ['response-head.ts', 'listener.ts'],
  'event-log': ['event-log.ts'],
  ledger: ['ledger.ts', 'ledger-record.ts'],
  analytics: ['analytics.ts', 'counting-rules.ts'],
  journal: ['journal.ts'],
  audit: ['audit-actions.ts', 'audit-log.ts', 'audit-trail.ts', 'run-recorded.ts'],
};

/** Packages that only the listed files and folders may import. */
const packageHomes: Readonly<Record<string, readonly string[]>> = {
  'uWebSockets.js': ['src/http/engines/uws-engine.ts', 'src/http/engines/uws-listener.ts'],
  'uWebSockets.js-glibc-2.38': ['src/http/engines/uws-engine.ts'],
  'better-sqlite3': [
    'src/audit/',
    'src/auth/',
    'src/analytics/',
    'src/quotas/',
    'src/files/copy-database.ts',
    'src/files/folder-lock.ts',
    'src/files/shared-database.ts',
  ],
  'prom-client': ['src/metrics/'],
  piscina: ['src/matching/pool-matcher.ts'],
  commander: ['src/cli/'],
  'csv-parse': ['src/cli/'],
  'csv-stringify': ['src/operations/csv-table.ts'],
  'jsonc-parser': ['src/cli/', 'src/confirmations/'],
  saxes: ['src/catalogs/find-svg-problem.ts'],
  'sonic-boom': ['src/logging/'],
  'crawler-user-agents': ['src/user-agents/'],
};

const sources = sourceFiles('src', 'workers');
const inSrc = [...sources.filter(({ path }) => path.startsWith('src/')), ...sourceFiles('bench/capacity')];

/** Returns the folder of a file of the package: the subfolder for `http`, `verticals` and `web`, and the name of a file directly in `src/`. */
function folderOf(path: string): string {
  if (path.startsWith('bench/')) return 'bench/capacity';
  const [, folder = '', below = '', file] = path.split('/');
  if (file !== undefined && ['http', 'verticals', 'web'].includes(folder)) return `${folder}/${below}`;
  return folder.replace(/\.ts$/, '');
}

/** Returns the key of a file in the import table. All subfolders of `verticals` share the row `verticals/*`. */
function placeOf(path: string): string {
  return folderOf(path).replace(/^verticals\/.*/, 'verticals/*');
}

function violations(files: readonly SourceFile[], broken: (file: SourceFile) => readonly string[]): string[] {
  return files.flatMap((file) => broken(file).map((what) => `${file.path}: ${what}`));
}

test('the import table lists exactly the folders of the package', () => {
  const places = new Set(inSrc.map(({ path }) => placeOf(path)));
  assert.deepEqual([...places].sort(), [...Object.keys(mayImport), ...compositionRoot].sort());
});

/** Returns the files of `src` that a file imports, without the threads that it starts. */
function importsInSrc({ ownImports }: SourceFile): string[] {
  return ownImports.filter((to) => !to.startsWith('workers/'));
}

test('source files import only folders that the import table allows', () => {
  const found = violations(inSrc, (file) => {
    const place = placeOf(file.path);
    if (compositionRoot.includes(place)) return [];
    const allowed = [place, ...(mayImport[place] ?? [])];
    return importsInSrc(file).filter((to) => !allowed.includes(placeOf(to)));
  });
  assert.deepEqual(found, []);
});

/** Files of the server that browser programs contain too. They import only each other. */
const sharedWithBrowsers = [
  'src/audit/audit-actions.ts',
  'src/confirmations/confirmation-fields.ts',
  'src/confirmations/confirmation-table.ts',
  'src/confirmations/rejection-reasons.ts',
];

test('browser programs import only types and shared files from the server', () => {
  const found = violations(inSrc, ({ path, text, ownImports, packages }) => {
    const isShared = sharedWithBrowsers.includes(path);
    if (!path.startsWith('src/web/') && !isShared) return [];
    const outside = ownImports.filter((to) => !to.startsWith('src/web/') && !sharedWithBrowsers.includes(to));
    if (isShared) return [...outside, ...packages];
    const typeImports = text.match(/^(?:import|export) type \{[^}]*\} from '(?:\.\.\/){3}/gm) ?? [];
    return outside.length === typeImports.length ? [] : outside;
  });
  assert.deepEqual(found, []);
});

test('no files import each other in a circle, not even types', () => {
  const imports = new Map(inSrc.map((file) => [file.path, importsInSrc(file)]));
  assert.deepEqual(findCircular(imports), []);
});

test('no folders import each other in a circle', () => {
  const imports = new Map<string, string[]>();
  for (const file of inSrc) {
    const folder = folderOf(file.path);
    const others = importsInSrc(file)
      .map(folderOf)
      .filter((to) => to !== folder);
    imports.set(folder, [...(imports.get(folder) ?? []), ...others]);
  }
  assert.deepEqual(findCircular(imports), []);
});

test('operations and routes import interfaces (ports) and no implementations (adapters)', () => {
  const callers = inSrc.filter(({ path }) => /^src\/(operations|http\/routes)\//.test(path));
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

test('only the files and folders in packageHomes import restricted packages', () => {
  const found = violations(sources, ({ path, packages }) =>
    packages.filter((name) => {
      const homes = packageHomes[name];
      return homes !== undefined && !homes.some((home) => path.startsWith(home));
    }),
  );
  assert.deepEqual(found, []);
});

const shownPackages: Readonly<Record<string, readonly string[]>> = {
  'examples/embedding': ['express', 'fastify', 'svc-marketplace'],
};

/** Code of the service that an example imports from its file, because the package is not built in a checkout. The package exports it. */
const shownExports: Readonly<Record<string, readonly string[]>> = {
  'examples/landing-page': ['src/experiments/assign-arm.ts'],
};

test('examples import only exports of the service, and only the frameworks that they show', () => {
  const examples = sourceFiles('examples');
  const found = examples.flatMap(({ path, ownImports, packages }) => {
    const home = path.split('/').slice(0, 2).join('/');
    const outside = [
      ...ownImports.filter((to) => !to.startsWith(`${home}/`) && !shownExports[home]?.includes(to)),
      ...packages.filter((name) => !name.startsWith('node:') && !shownPackages[home]?.includes(name)),
    ];
    return outside.map((what) => `${path}: ${what}`);
  });
  assert.deepEqual(found, []);
  assert.ok(examples.length > 0);
});

test('a vertical is named only in its folder, its registration, the exports of the package, and the products of the widget', () => {
  const places = [
    'src/index.ts',
    'src/verticals/built-in-verticals.ts',
    'src/web/widget/products/find-product-view.ts',
  ];
  for (const { segment } of builtInVerticals.verticals) {
    const home = `src/verticals/${segment}/`;
    const name = new RegExp(`['"/]${segment}['"/]`);
    const naming = inSrc.filter(({ path, text }) => !path.startsWith(home) && name.test(text));
    // The product of mortgages has the name of its vertical, also in the widget.
    const found = naming.map(({ path }) => path).filter((path) => path !== 'src/web/widget/products/mortgage.ts');
    assert.deepEqual(found.sort(), places, segment);
  }
});
