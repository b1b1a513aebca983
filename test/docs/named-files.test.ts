import assert from 'node:assert/strict';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('../..', import.meta.url));

const documents = readdirSync(join(root, 'docs'), { recursive: true, encoding: 'utf8' })
  .filter((name) => name.endsWith('.md'))
  .map((name) => join('docs', name));

test('the files of this project that documents name are there', () => {
  const named = documents.flatMap((document) =>
    [...readFileSync(join(root, document), 'utf8').matchAll(/`((?:src|test|workers|bench|bin)\/[\w./-]+)`/g)].map(
      ([, path = '']) => ({ document, path }),
    ),
  );
  assert.ok(named.length > 50, `${named.length}`);
  assert.deepEqual(
    named.filter(({ path }) => !existsSync(join(root, path))),
    [],
  );
});

const alerts = join(root, 'ops/alerts.yml');

test('every alert has its section in the operating guide', {
  skip: !existsSync(alerts) && 'there are no alerts',
}, () => {
  const guide = readFileSync(join(root, 'docs/operating.md'), 'utf8');
  const names = [...readFileSync(alerts, 'utf8').matchAll(/- alert: (\w+)/g)].map(([, name = '']) => name);
  assert.deepEqual(
    names.filter((name) => !guide.includes(`\n\n\`${name}\`: `)),
    [],
  );
});
