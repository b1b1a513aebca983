import assert from 'node:assert/strict';
import { test } from 'node:test';
import { deadFiles, sourceFiles } from './source-tree.ts';

const sources = sourceFiles('src', 'workers');

const tests = sourceFiles('test');

test('every source file is imported or started by another file', () => {
  for (const [files, entry] of [
    [sources, /^src\/(index|cli\/main|web\/widget\/main|web\/console\/\w+\/main)\.tsx?$/],
    // Servers preload the programs of test/cli/programs and the registration of a vertical by name.
    [
      [...sources, ...sourceFiles('bench'), ...tests],
      /^(src\/(index|cli\/main|web\/widget\/main|web\/console\/\w+\/main)|bench\/.*\bmain|test\/.*\.test|test\/(crash|console)\/main|test\/cli\/programs\/.*|test\/support\/.*\/register)\.tsx?$/,
    ],
    [sourceFiles('examples'), /^examples\/([^/]+\/main|embedding\/[^/]+)\.ts$/],
  ] as const) {
    const entries = files.map(({ path }) => path).filter((path) => entry.test(path));
    assert.deepEqual(deadFiles(files, entries), []);
  }
});

test('every exported value is used in another file', () => {
  const everything = [...sources, ...sourceFiles('bench', 'bin', 'examples', 'test')];
  const users = new Map<string, number>();
  for (const { text } of everything) {
    for (const word of new Set(text.match(/\w+/g))) users.set(word, (users.get(word) ?? 0) + 1);
  }
  const exported = /^export (?:async )?(?:abstract )?(?:const|function\*?|class) (\w+)/gm;
  const unused = everything.flatMap(({ path, text }) =>
    [...text.matchAll(exported)].filter(([, name]) => users.get(name!) === 1).map(([, name]) => `${path}: ${name}`),
  );
  assert.deepEqual(unused, []);
});

test('source files use the injected clock and contain no TODO comments', () => {
  // These folders measure deadlines and pauses, which do not affect responses. Browser code has no injected clock.
  const ownTime =
    /^(src\/domain\/clock|src\/http\/|src\/shards\/forward-|src\/analytics\/|src\/event-log\/|src\/cli\/|src\/web\/|workers\/)/;
  const found = sources
    .filter(
      ({ path, text }) =>
        /\b(TODO|FIXME|XXX|HACK)\b/.test(text) ||
        (!ownTime.test(path) && /\b(Date\.now|performance\.now)\(|new Date\(\)/.test(text)),
    )
    .map(({ path }) => path);
  assert.deepEqual(found, []);
});

test('tests of the API check each response against the OpenAPI document', () => {
  const ownClient =
    /(?<![.\w'])fetch\(|RawConnection\.open|import \{[^}]*\b(request|get|connect)\b[^}]*\} from 'node:(http|https|http2|net|tls)'/;
  const found = tests
    .filter(({ path, text }) => /^test\/(contract|embedded|openapi|crash)\//.test(path) && ownClient.test(text))
    .map(({ path }) => path);
  // Other tests use `HttpClient` or `ServiceConnection`. The listed program checks that a service without listeners has no address.
  assert.deepEqual(found, ['test/embedded/programs/lifecycle.ts']);
});
