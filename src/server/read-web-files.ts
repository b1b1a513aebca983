import { readFileSync } from 'node:fs';
import type { ConsoleName } from '../auth/console-logins.ts';
import { type CompressedFile, contentHash } from '../domain/compressed-file.ts';
import type { ConsoleFiles } from '../http/routes/console/console-page.ts';

class WebFileMissingError extends Error {
  override readonly name = 'WebFileMissing';
}

export function readWidgetScript(): CompressedFile {
  return readWebFile('widget/dist/widget.js');
}

export function readConsoleFiles(console: ConsoleName): ConsoleFiles {
  const path = `console/dist/${console}`;
  return { script: readWebFile(`${path}.js`), style: readWebFile(`${path}.css`) };
}

/**
 * Reads a file that `bin/build-web.ts` has built, with its compressed files. The files are compressed at build time, because compression
 * takes 40 ms.
 */
function readWebFile(path: string): CompressedFile {
  try {
    const { href } = new URL(`../web/${path}`, import.meta.url);
    const [plain, gzip, brotli] = ['', '.gz', '.br'].map((ending) => readFileSync(new URL(href + ending)));
    return { hash: contentHash(plain!), plain: plain!, gzip: gzip!, brotli: brotli! };
  } catch {
    throw new WebFileMissingError(`the browser file ${path} is not built; run make install`);
  }
}
