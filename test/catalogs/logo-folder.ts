import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import { temporaryFolder } from '../support/temporary-folder.ts';

/** A real folder for logos, gone when the test is over. */
export function logoFolderOf(t: TestContext, files: Readonly<Record<string, string | Uint8Array>> = {}): string {
  const folder = join(temporaryFolder(t), 'logos');
  mkdirSync(folder);
  for (const [name, content] of Object.entries(files)) writeFileSync(join(folder, name), content);
  return folder;
}

/** A small image that is another for each colour. */
export function image(colour: string): string {
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 8 8"><rect width="8" height="8" fill="${colour}"/></svg>`;
}
