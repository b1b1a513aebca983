import { readdirSync } from 'node:fs';
import { dirname, join, normalize } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('../..', import.meta.url));

/** Paths of all documents for readers, relative to the root of the project, with forward slashes. */
export const documents: readonly string[] = [
  ...readdirSync(root).filter((name) => name.endsWith('.md')),
  ...['docs', 'examples', 'bench'].flatMap((folder) =>
    readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' })
      .filter((name) => name.endsWith('.md') && !/(^|\/)(node_modules|results)\//.test(name))
      .map((name) => `${folder}/${name}`),
  ),
].sort();

/** Returns Markdown without fenced code blocks, which contain neither headings nor links. */
export function withoutCodeBlocks(markdown: string): string {
  return markdown.replaceAll(/^[ \t]*(```+|~~~+)[^\n]*\n(?:.*\n)*?[ \t]*\1[ \t]*$/gm, '');
}

/** Returns the targets of the links and images of a document, except web URLs. */
export function linksOf(markdown: string): string[] {
  const text = withoutCodeBlocks(markdown).replaceAll(/`[^`\n]*`/g, '');
  return [...text.matchAll(/\]\(([^()\s]+)\)/g), ...text.matchAll(/^\[[^\]]+\]: +(\S+)/gm)]
    .map((match) => match[1]!)
    .filter((link) => !/^[a-z]+:/i.test(link));
}

/** Resolves a link relative to the path of its document. A link that is only an anchor resolves to the document. */
export function resolveLink(document: string, link: string): string {
  const [path = ''] = link.split('#', 1);
  return path === '' ? document : normalize(join(dirname(document), decodeURIComponent(path)));
}
