import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { documents, linksOf, resolveLink, withoutCodeBlocks } from '../support/documents.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));

const read = (path: string): string => readFileSync(join(root, path), 'utf8');

/** Returns the anchors of the headings of a document, generated from the heading texts as GitHub does. */
function anchorsOf(path: string): ReadonlySet<string> {
  const anchors = new Set<string>();
  for (const [, heading] of withoutCodeBlocks(read(path)).matchAll(/^#{1,6} +(.+?) *#*$/gm) as Iterable<
    [string, string]
  >) {
    const words = heading
      .replaceAll(/!?\[([^\]]*)\]\([^)]*\)/g, '$1')
      .toLowerCase()
      .replaceAll(/[^\p{L}\p{M}\p{N}\p{Pc} -]/gu, '')
      .replaceAll(' ', '-');
    let anchor = words;
    for (let again = 1; anchors.has(anchor); again++) anchor = `${words}-${again}`;
    anchors.add(anchor);
  }
  return anchors;
}

/** Returns the problem of a link, or null if the target file exists and contains the heading of the anchor. */
function problemOf(document: string, link: string): string | null {
  const anchor = link.split('#', 2)[1];
  const target = resolveLink(document, link);
  if (!existsSync(join(root, target))) return `${document}: ${link} leads nowhere`;
  if (anchor === undefined || !target.endsWith('.md') || anchorsOf(target).has(anchor)) return null;
  return `${document}: ${link} names no heading of ${target}`;
}

test('every link between documents has an existing target', () => {
  const links = documents.flatMap((document) => linksOf(read(document)).map((link) => ({ document, link })));
  assert.ok(links.length >= 20, `${links.length} links`);
  assert.deepEqual(
    links.map(({ document, link }) => problemOf(document, link)).filter((problem) => problem !== null),
    [],
  );
});

test('references to documents in code name an existing file and, after a #, an existing heading', () => {
  const files = execFileSync('git', ['ls-files'], { cwd: root, encoding: 'utf8' })
    .split('\n')
    .filter((path) => /\.(ts|md|yml|json)$|Makefile$/.test(path) && path !== 'package-lock.json');
  const broken: string[] = [];
  const references = new Set<string>();
  for (const path of files) {
    const text = read(path);
    if (!path.endsWith('.md')) {
      for (const [reference] of text.matchAll(/(?<![\w./-])docs\/[\w/-]+\.md(?:#[\w-]+)?/g)) {
        if (!references.has(reference) && problemOf('.', reference) !== null) broken.push(`${path}: ${reference}`);
        else references.add(reference);
      }
    }
    if (path === 'test/architecture/markdown-links.test.ts') continue;
    for (const [old] of text.matchAll(/(?<=[(\s])D\d{1,2}(?=[\s,.;:)])|\bcontract,? \d\.\d/g))
      broken.push(`${path}: ${old}`);
  }
  assert.ok(references.size >= 50, `${references.size} references`);
  assert.deepEqual(broken, []);
});
