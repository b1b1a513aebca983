import { readFileSync } from 'node:fs';
import { contentHash } from '../domain/content-hash.ts';

/** The widget's script in every encoding it is sent in, packed when it is built: it would cost each start 40 ms. */
export interface WidgetScript {
  /** Tells one build from another: 16 hex digits of the SHA-256 of its text. */
  readonly hash: string;
  readonly plain: Uint8Array;
  readonly gzip: Uint8Array;
  readonly brotli: Uint8Array;
}

const builtScriptUrl = new URL('../web/widget/dist/widget.js', import.meta.url);

/** The script is made from `src/web/widget/` by `bin/build-widget.ts`, which the Makefile sees to. */
class WidgetScriptMissingError extends Error {
  override readonly name = 'WidgetScriptMissing';
}

export function loadWidgetScript(): WidgetScript {
  try {
    const [plain, gzip, brotli] = ['', '.gz', '.br'].map((ending) =>
      readFileSync(new URL(builtScriptUrl.href + ending)),
    );
    return { hash: contentHash(plain!), plain: plain!, gzip: gzip!, brotli: brotli! };
  } catch {
    throw new WidgetScriptMissingError("the widget's script has not been built: run make install");
  }
}
