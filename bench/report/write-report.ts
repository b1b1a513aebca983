import { writeFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import type { BenchResult } from '../result/bench-result.ts';
import { renderPage } from './html/page.ts';
import { toMarkdown } from './markdown.ts';

export interface WrittenReport {
  readonly markdown: string;
  readonly htmlFile: string;
}

/** Writes the page of a result into a folder, under the time of its run and as `latest.html`, over one that was there. */
export async function writeReport(result: BenchResult, folder: string): Promise<WrittenReport> {
  const html = await renderPage(result);
  const htmlFile = join(folder, `${resultName(result)}.html`);
  await writeFile(htmlFile, html);
  await writeFile(join(folder, 'latest.html'), html);
  return { markdown: toMarkdown(result), htmlFile };
}

/** What the files of a result are called: the time of its run, without what some file systems refuse. */
function resultName({ startedAt }: Pick<BenchResult, 'startedAt'>): string {
  return basename(startedAt.replaceAll(':', '-'));
}
