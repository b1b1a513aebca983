import { readFileSync } from 'node:fs';
import { type CompressedFile, contentHash } from '../domain/compressed-file.ts';

const builtScriptUrl = new URL('../web/widget/dist/widget.js', import.meta.url);

class WidgetScriptMissingError extends Error {
  override readonly name = 'WidgetScriptMissing';
}

/** Loads the widget script that `bin/build-widget.ts` has built and compressed. Compression at each start would take 40 ms. */
export function loadWidgetScript(): CompressedFile {
  try {
    const [plain, gzip, brotli] = ['', '.gz', '.br'].map((ending) =>
      readFileSync(new URL(builtScriptUrl.href + ending)),
    );
    return { hash: contentHash(plain!), plain: plain!, gzip: gzip!, brotli: brotli! };
  } catch {
    throw new WidgetScriptMissingError('the widget script is not built; run make install');
  }
}
