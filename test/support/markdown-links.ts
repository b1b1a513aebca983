import { dirname, join, normalize } from 'node:path';

/** Markdown without what stands between fences, where neither headings nor links are any. */
export function proseOf(markdown: string): string {
  return markdown.replaceAll(/^[ \t]*(```+|~~~+)[^\n]*\n(?:.*\n)*?[ \t]*\1[ \t]*$/gm, '');
}

/** Where the links and pictures of a document lead, but for those into the web. */
export function linksOf(markdown: string): string[] {
  const text = proseOf(markdown).replaceAll(/`[^`\n]*`/g, '');
  return [...text.matchAll(/\]\(([^()\s]+)\)/g), ...text.matchAll(/^\[[^\]]+\]: +(\S+)/gm)]
    .map((match) => match[1]!)
    .filter((link) => !/^[a-z]+:/i.test(link));
}

/** The path that a link stands for, as the document's own is given; an anchor alone leads to the document. */
export function targetOf(document: string, link: string): string {
  const [path = ''] = link.split('#', 1);
  return path === '' ? document : normalize(join(dirname(document), decodeURIComponent(path)));
}
