import assert from 'node:assert/strict';
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import process from 'node:process';
import { after, before, test } from 'node:test';
import { publint } from 'publint';
import { formatMessage } from 'publint/utils';
import { linksOf, targetOf } from '../support/documents.ts';
import { plainEnvironment } from '../support/plain-environment.ts';
import { checkout } from './copy-checkout.ts';
import { examplesIn } from './document-examples.ts';
import { documentedCommands, type InstalledPackage, installPackage } from './installed-package.ts';
import { runToEnd } from './run-to-end.ts';
import { createSession, startServing } from './start-serving.ts';

/** 1.24 MB when written, most of it the API reference page and the documents. The test reports growth by a fifth. */
const packedBytesMax = 1_500_000;

let installed: InstalledPackage;
before(async () => {
  installed = await installPackage();
});
after(() => installed?.remove());

test('the package contains the compiled program, its data files, and the documents', () => {
  const expected = [
    /^(package\.json|LICENSE|(README|CHANGELOG|CONTRIBUTING|SECURITY)\.md)$/,
    /^docs\/(openapi\.json|(contributing\/(decisions\/)?)?[a-zA-Z-]+\.md|images\/[a-z-]+\.(png|svg))$/,
    /^ops\/(alerts\.yml|grafana-dashboard\.json)$/,
    /^(bench|bench\/population|examples\/landing-page)\/README\.md$/,
    /^dist\/bin\/(launch|heap-megabytes)\.(js|d\.ts)$/,
    /^dist\/(src|workers)\/([a-z-]+\/)*[a-z0-9-]+(\.d\.ts|\.js)$/,
    /^dist\/src\/capacity\/reference-result\.json$/,
    /^dist\/src\/verticals\/personal-loans\/([a-z-]+\.json|logos\/[a-z-]+\.svg)$/,
    /^dist\/src\/web\/widget\/dist\/widget\.js(\.br|\.gz)?$/,
    /^dist\/src\/openapi\/(reference\.css|examples\/[a-z-]+\.json)$/,
    /^dist\/src\/openapi\/swagger-ui\/(swagger-ui(-bundle)?\.[a-zA-Z.]+|LICENSE|NOTICE)$/,
  ];
  const paths = installed.files.map(({ path }) => path);
  assert.deepEqual(
    paths.filter((path) => !expected.some((shape) => shape.test(path))),
    [],
  );
  for (const shape of expected)
    assert.ok(
      paths.some((path) => shape.test(path)),
      `${shape}`,
    );
  assert.ok(
    !paths.some((path) => /^dist\/src\/web\/widget\/(?!dist\/)/.test(path)),
    'the widget is packed as a bundle',
  );
  assert.ok(installed.packedBytes <= packedBytesMax, `${installed.packedBytes} bytes packed`);
});

test('no file of the package refers to a missing file', () => {
  const paths = new Set(installed.files.map(({ path }) => path));
  const missing = [...paths]
    .filter((path) => /^dist\/.*\.(js|d\.ts)$/.test(path) && !path.includes('/web/widget/'))
    .flatMap((path) => {
      const code = readFileSync(join(installed.home, path), 'utf8').replaceAll(/^\s*(\/\/|\/?\*).*$/gm, '');
      const named = [
        ...code.matchAll(/\b(?:from |import\(|import )['"](\.[^'"]+)['"]/g),
        ...code.matchAll(/new URL\('(\.[^']+\.[a-z]+)', import\.meta\.url\)/g),
      ].map((match) => join(path, '..', match[1]!));
      return named.filter((name) => !paths.has(name) && !paths.has(name.replace(/\.js$/, '.d.ts')));
    });
  assert.deepEqual(missing, []);
});

test('no document of the package links to a missing file', () => {
  const paths = installed.files.map(({ path }) => path);
  const documents = paths.filter((path) => path.endsWith('.md'));
  const broken = documents.flatMap((document) =>
    linksOf(readFileSync(join(installed.home, document), 'utf8'))
      .filter((link) => {
        const target = targetOf(document, link).replace(/\/$/, '');
        return !paths.some((path) => path === target || path.startsWith(`${target}/`));
      })
      .map((link) => `${document}: ${link}`),
  );
  assert.ok(documents.includes('README.md'));
  assert.deepEqual(broken, []);
});

test('the manifest has no development dependencies or scripts, and lists only existing files', () => {
  const manifest = JSON.parse(readFileSync(join(installed.home, 'package.json'), 'utf8'));
  assert.deepEqual([manifest.devDependencies, manifest.scripts], [undefined, undefined]);
  const paths = installed.files.map(({ path }) => path);
  const missing = [...manifest.files, manifest.bin.marketplace].filter(
    (name: string) => !paths.some((path) => path === name || path.startsWith(`${name}/`)),
  );
  assert.deepEqual(missing, []);
});

test('a CommonJS program can require it', async () => {
  const program = "console.log(typeof require('svc-marketplace').createMarketplace)";
  assert.equal(await runToEnd(process.execPath, ['-e', program], { folder: installed.project }), 'function\n');
});

test('an installation has no development dependencies', () => {
  const { devDependencies } = JSON.parse(readFileSync(join(checkout, 'package.json'), 'utf8'));
  const found = readdirSync(join(installed.project, 'node_modules'));
  assert.deepEqual(
    Object.keys(devDependencies).filter((name) => found.includes(name.split('/')[0]!) && !name.startsWith('@')),
    [],
  );
  assert.ok(!found.includes('@types'));
});

test('publint reports no problem', async () => {
  const { messages, pkg } = await publint({ pkgDir: installed.home, pack: false, strict: true });
  assert.deepEqual(
    messages.map((message) => formatMessage(message, pkg, { color: false })),
    [],
  );
});

test('runs the example of docs/embedding.md after the documented commands', async () => {
  const [example = ''] = examplesIn('docs/embedding.md');
  assert.ok(example.includes("dataDir: './data'"));
  const [, name = ''] = /^node (\S+)$/.exec(documentedCommands.at(-1)!) ?? [];
  // The example has no TypeScript syntax, so Node.js runs it as JavaScript.
  writeFileSync(join(installed.project, name), example);
  const printed = await runToEnd(process.execPath, [name], { folder: installed.project });
  assert.match(printed, /^https:\/\/\S+\n1\n$/);
});

test('catalog reload and matcher pool start their threads', async () => {
  const program = `
    import { copyFileSync, readFileSync, writeFileSync } from 'node:fs';
    import { createMarketplace, personalLoans } from 'svc-marketplace';
    const at = new URL('node_modules/svc-marketplace/dist/src/verticals/personal-loans/', import.meta.url);
    for (const name of ['example-catalog.json', 'sandbox-catalog.json']) copyFileSync(new URL(name, at), name);
    const marketplace = await createMarketplace({
      dataDir: './data-of-threads',
      matcherThreads: 1,
      catalogs: [
        { vertical: personalLoans, mode: 'live', file: 'example-catalog.json' },
        { vertical: personalLoans, mode: 'test', file: 'sandbox-catalog.json' },
      ],
    });
    const catalog = JSON.parse(readFileSync('example-catalog.json', 'utf8'));
    catalog.lenders.pop();
    writeFileSync('example-catalog.json', JSON.stringify(catalog));
    const changes = await marketplace.reloadCatalogs();
    const { key } = marketplace.keys.create({ account: 'demo', vertical: 'personal-loans', mode: 'live' });
    const partner = marketplace.partner(key);
    const session = await partner.createSession({ referrer_tag: 'threads' });
    const fields = { loan_amount: 15000, loan_purpose: 'major_purchase', credit_score_range: '700-749', annual_income: 85000, employment_status: 'employed', state: 'CA' };
    await partner.submitInputs({ sub_id: session.value.sub_id, fields });
    const shown = await partner.getMarketplace({ sub_id: session.value.sub_id });
    console.log(JSON.stringify([changes.map(({ ok, changed }) => [ok, changed]), shown.value.offers.length > 0]));
    await marketplace.close();
  `;
  writeFileSync(join(installed.project, 'threads.mjs'), program);
  const printed = await runToEnd(process.execPath, ['threads.mjs'], { folder: installed.project });
  assert.deepEqual(JSON.parse(printed), [
    [
      [true, true],
      [true, false],
    ],
    true,
  ]);
});

for (const [resolution, module] of [
  ['node16', 'node16'],
  ['bundler', 'esnext'],
] as const) {
  test(`its types compile with module resolution ${resolution}`, async () => {
    const { project } = installed;
    const examples = examplesIn('docs/embedding.md');
    const names = examples.map((example, at) => {
      const name = `${resolution}-${at}.mts`;
      writeFileSync(join(project, name), example);
      return name;
    });
    const config = `tsconfig-${resolution}.json`;
    const types = { typeRoots: [join(checkout, 'node_modules', '@types')], types: ['node'] };
    const checked = { target: 'es2022', strict: true, skipLibCheck: false, noEmit: true };
    const compilerOptions = { ...checked, ...types, module, moduleResolution: resolution };
    writeFileSync(join(project, config), JSON.stringify({ compilerOptions, files: names }));
    const tsc = join(checkout, 'node_modules', 'typescript', 'bin', 'tsc');
    assert.equal(await runToEnd(process.execPath, [tsc, '-p', config], { folder: project }), '');
  });
}

const command = () => join(installed.project, 'node_modules', '.bin', 'marketplace');

test('npx runs the command, which prints the version of the package', async () => {
  const { version } = JSON.parse(readFileSync(join(installed.home, 'package.json'), 'utf8'));
  const printed = await runToEnd('npx', ['--no', '--', 'marketplace', '--version'], { folder: installed.project });
  assert.equal(printed, `${version}\n`);
});

test('the command serves and drains at SIGTERM', async (t) => {
  const env = { ...plainEnvironment(), SVC_PORT: '0', SVC_OPS_PORT: '0', SVC_DATA_DIR: './data-of-serve' };
  const serving = await startServing(t, command(), ['serve'], { cwd: installed.project, env });
  assert.equal(
    await createSession(serving, readFileSync(join(installed.project, 'data-of-serve/first-keys.txt'), 'utf8')),
    200,
  );
  assert.equal(await serving.stop(), 0);
});
