import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { copyFileSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import process from 'node:process';
import { after, before, test } from 'node:test';
import { publint } from 'publint';
import { formatMessage } from 'publint/utils';
import { findFreePort } from '../../bench/target/free-port.ts';
import type { MarketplaceResponse } from '../../src/index.ts';
import { serveMarketplace } from '../cli/served-process.ts';
import { checkout } from '../docs/run-commands.ts';
import { ApiCaller } from '../support/api-caller.ts';
import { linksOf, resolveLink } from '../support/documents.ts';
import { HttpClient } from '../support/http-client.ts';
import { plainEnvironment } from '../support/plain-environment.ts';
import { runAfterTest } from '../support/run-after-test.ts';
import { personalLoansFixture } from '../support/vertical-fixtures.ts';
import { documentedCommands, type InstalledPackage, installPackage, runToEnd } from './installed-package.ts';

/**
 * The limit is 15 % above the current size of 2.3 MB: 0.5 MB are the API reference page, 0.5 MB images of the documents, 0.3 MB the two
 * consoles, and the rest is code, types, catalogs and documents. A larger package contains a file by mistake, or this limit needs a new reason.
 */
const packedBytesMax = 2_700_000;

let installed: InstalledPackage;
before(
  async () => {
    installed = await installPackage();
  },
  { timeout: 600_000 },
);
after(() => installed?.remove());

/** Code blocks of docs/embedding.md. Each block is a complete program. */
const examples = [
  ...readFileSync(join(checkout, 'docs/embedding.md'), 'utf8').matchAll(/^```ts\n([\s\S]*?)^```$/gm),
].map(([, code]) => code!);

test('the package contains the compiled program, its data files, and the documents', () => {
  const expected = [
    /^(package\.json|LICENSE|(README|CHANGELOG|CONTRIBUTING|SECURITY)\.md)$/,
    /^docs\/(openapi\.json|(contributing\/(decisions\/)?|verticals\/)?[a-zA-Z-]+\.md|images\/[a-z-]+\.(png|svg|webp))$/,
    /^ops\/(alerts\.yml|grafana-dashboard\.json)$/,
    /^(bench|bench\/population|examples\/landing-page)\/README\.md$/,
    /^bench\/tables\.md$/,
    /^examples\/embedding\/(express|fastify)\.ts$/,
    /^dist\/bin\/(launch|heap-megabytes)\.(js|d\.ts)$/,
    /^dist\/(src|workers)\/([a-z-]+\/)*[a-z0-9-]+\.(d\.ts|c?js)$/,
    /^dist\/bench\/(capacity\/[a-z-]+|statistics)\.js$/,
    /^dist\/bench\/(capacity\/reference-result|mixes\/default)\.json$/,
    /^dist\/src\/verticals\/[a-z-]+\/([a-z-]+\.json|logos\/[a-z-]+\.svg)$/,
    /^dist\/src\/web\/widget\/dist\/widget\.js(\.br|\.gz)?$/,
    /^dist\/src\/web\/console\/dist\/(partner|operator)\.(js|css)(\.br|\.gz)?$/,
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
    !paths.some((path) => /^dist\/src\/web\/(?!(widget|console)\/dist\/)/.test(path)),
    'the widget and the consoles are packed as bundles',
  );
  assert.ok(installed.packedBytes <= packedBytesMax, `${installed.packedBytes} bytes packed`);
});

test('no file of the package refers to a missing file', () => {
  const paths = new Set(installed.files.map(({ path }) => path));
  const missing = [...paths]
    .filter((path) => /^dist\/.*\.(c?js|d\.ts)$/.test(path) && !path.includes('/web/'))
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
        const target = resolveLink(document, link).replace(/\/$/, '');
        return !paths.some((path) => path === target || path.startsWith(`${target}/`));
      })
      .map((link) => `${document}: ${link}`),
  );
  assert.ok(documents.includes('README.md'));
  assert.deepEqual(broken, []);
});

test('package.json of the package has no development dependencies or scripts, and lists only existing files', () => {
  const manifest = JSON.parse(readFileSync(join(installed.home, 'package.json'), 'utf8'));
  assert.deepEqual([manifest.devDependencies, manifest.scripts], [undefined, undefined]);
  const paths = installed.files.map(({ path }) => path);
  const missing = [...manifest.files, manifest.bin.marketplace].filter(
    (name: string) => !paths.some((path) => path === name || path.startsWith(`${name}/`)),
  );
  assert.deepEqual(missing, []);
});

test('a CommonJS program can load the package with require', async () => {
  const program = "console.log(typeof require('svc-marketplace').createMarketplace)";
  assert.equal(await runToEnd(process.execPath, ['-e', program], installed.project), 'function\n');
});

test('an installation of the package has no development dependencies', () => {
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

test('the example of docs/embedding.md runs after the documented commands', async () => {
  const [example = ''] = examples;
  assert.ok(example.includes("dataDir: './data'"));
  const [, name = ''] = /^node (\S+)$/.exec(documentedCommands.at(-1)!) ?? [];
  // The example has no TypeScript syntax, so Node.js runs it as JavaScript.
  writeFileSync(join(installed.project, name), example);
  const printed = await runToEnd(process.execPath, [name], installed.project);
  assert.match(printed, /^https:\/\/\S+\n1\n$/);
});

test('the installed package can start the threads for catalog reloads and matching', async () => {
  const program = `
    import { copyFileSync, readFileSync, writeFileSync } from 'node:fs';
    import { createMarketplace, personalLoans } from 'svc-marketplace';
    const at = new URL('node_modules/svc-marketplace/dist/src/verticals/personal-loans/', import.meta.url);
    for (const name of ['example-catalog.json', 'sandbox-catalog.json']) copyFileSync(new URL(name, at), name);
    const marketplace = await createMarketplace({
      dataDir: './data-of-threads',
      urls: { click: 'https://go.example' },
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
    const partner = marketplace.partnerApi(key);
    const session = await partner.createSession({ referrer_tag: 'threads' });
    const fields = { loan_amount: 15000, loan_purpose: 'major_purchase', credit_score_range: '700-749', annual_income: 85000, employment_status: 'employed', state: 'CA' };
    await partner.submitInputs({ sub_id: session.value.sub_id, fields });
    const shown = await partner.getMarketplace({ sub_id: session.value.sub_id });
    console.log(JSON.stringify([changes.map(({ ok, changed }) => [ok, changed]), shown.value.offers.length > 0]));
    await marketplace.close();
  `;
  writeFileSync(join(installed.project, 'threads.mjs'), program);
  const printed = await runToEnd(process.execPath, ['threads.mjs'], installed.project);
  assert.deepEqual(JSON.parse(printed), [
    [
      [true, true],
      [true, false],
    ],
    true,
  ]);
});

test('the examples of docs/embedding.md compile with the type declarations of the package', async () => {
  const { project } = installed;
  const files = examples.map((example, at) => {
    writeFileSync(join(project, `example-${at}.mts`), example);
    return `example-${at}.mts`;
  });
  const typeRoots = [join(checkout, 'node_modules', '@types')];
  const checks = { strict: true, skipLibCheck: false, noEmit: true, typeRoots, types: ['node'] };
  const compilerOptions = { target: 'es2022', module: 'node16', moduleResolution: 'node16', ...checks };
  writeFileSync(join(project, 'tsconfig.json'), JSON.stringify({ compilerOptions, files }));
  const tsc = join(checkout, 'node_modules', 'typescript', 'bin', 'tsc');
  assert.equal(await runToEnd(process.execPath, [tsc, '-p', 'tsconfig.json'], project), '');
});

for (const framework of ['express', 'fastify']) {
  test(`the ${framework} example answers offers, redirects clicks, serves logos, and stops at SIGTERM`, async (t) => {
    const { project } = installed;
    // The project is a CommonJS package, in which only files with the ending .mts are modules.
    const name = `${framework}.mts`;
    copyFileSync(join(checkout, 'examples/embedding', `${framework}.ts`), join(project, name));
    symlinkSync(join(checkout, 'node_modules', framework), join(project, 'node_modules', framework));
    const origin = `http://127.0.0.1:${await findFreePort()}`;
    const env = { ...plainEnvironment(), PORT: new URL(origin).port, DATA_DIR: `./data-of-${framework}` };
    const program = spawn(process.execPath, [name], { cwd: project, env, stdio: ['ignore', 'pipe', 'inherit'] });
    const exited = once(program, 'exit');
    runAfterTest(t, async () => {
      program.kill('SIGKILL');
      await exited;
    });
    const [line] = await Promise.race([once(program.stdout, 'data'), exited]);
    assert.equal(`${line}`, `${origin}\n`);
    const offers = (fields: object) =>
      fetch(`${origin}/offers`, {
        method: 'POST',
        headers: { 'content-type': 'application/json', connection: 'close' },
        body: JSON.stringify(fields),
      });
    assert.equal((await offers({ loan_amount: 1 })).status, 400);
    const answer = (await (await offers(personalLoansFixture.complete)).json()) as MarketplaceResponse;
    const [{ click_url, logo_url } = assert.fail()] = answer.offers;
    for (const [url, purpose, status] of [
      [click_url, '', 302],
      [click_url, 'prefetch', 503],
      [`${origin}/c?sub=unknown`, '', 404],
      [logo_url, '', 200],
      [`${origin}/cdn/unknown.svg`, '', 404],
    ] as const) {
      const headers = { purpose, connection: 'close' };
      assert.equal((await fetch(url, { headers, redirect: 'manual' })).status, status, url);
    }
    program.kill('SIGTERM');
    assert.deepEqual(await exited, [0, null]);
  });
}

test('the capacity command of the package uses the packaged benchmark result, and rejects --check outside a Git checkout', async () => {
  const command = join(installed.project, 'node_modules', '.bin', 'marketplace');
  const args = ['capacity', '--keys', '3', '--slo-p99', '50', '--json'];
  const { box, beyond_measured: beyond } = JSON.parse(await runToEnd(command, args, installed.project));
  assert.equal(box.quick, false);
  assert.match(beyond[0], /^This machine was not measured: .* make bench/);
  const refusal = /"--check is available only in a checkout; run make capacity-check KEYS=n SLO=ms there"/;
  await assert.rejects(runToEnd(command, [...args, '--check'], installed.project), refusal);
});

test('npx marketplace --version prints the version of the package', async () => {
  const { version } = JSON.parse(readFileSync(join(installed.home, 'package.json'), 'utf8'));
  assert.equal(await runToEnd('npx', ['--no', '--', 'marketplace', '--version'], installed.project), `${version}\n`);
});

/** Asserts that a listener serves the page of a console, and the compressed files that the page names. */
async function assertConsole(http: HttpClient, name: 'partner' | 'operator'): Promise<void> {
  const page = await http.send({ path: '/console/' });
  assert.deepEqual([page.status, page.headers.get('content-type')], [200, 'text/html; charset=utf-8']);
  for (const [tag, ending, type] of [
    ['src', 'js', 'text/javascript; charset=utf-8'],
    ['href', 'css', 'text/css; charset=utf-8'],
  ] as const) {
    const [, file] = new RegExp(`${tag}="(${name}\\.${ending}\\?v=\\w+)"`).exec(page.text) ?? [];
    assert.ok(file !== undefined, page.text);
    for (const encoding of ['br', 'gzip', undefined]) {
      const path = `/console/${file}`;
      const answer = await http.send({ path, headers: encoding === undefined ? {} : { 'Accept-Encoding': encoding } });
      const { status, headers, text } = answer;
      assert.deepEqual([status, headers.get('content-type'), headers.get('content-encoding')], [200, type, encoding]);
      const built = readFileSync(join(installed.home, 'dist/src/web/console/dist', `${name}.${ending}`), 'utf8');
      assert.equal(text, built);
    }
  }
}

test('the installed marketplace command serves requests and both consoles, and drains at SIGTERM', async () => {
  const dataDir = join(installed.project, 'data-of-serve');
  const command = join(installed.project, 'node_modules', '.bin', 'marketplace');
  const server = await serveMarketplace(dataDir, {}, command);
  const [, testKey = ''] = /^ {2}test {2}(\S+)$/m.exec(readFileSync(join(dataDir, 'first-keys.txt'), 'utf8')) ?? [];
  const http = new HttpClient(server.port);
  const operations = new HttpClient(server.operationsPort, false);
  try {
    await new ApiCaller(http, 'personal-loans', testKey).createSession('first-try');
    await assertConsole(http, 'partner');
    await assertConsole(operations, 'operator');
  } finally {
    http.close();
    operations.close();
    assert.equal(await server.stop(), 0);
  }
});
