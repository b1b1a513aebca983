import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { brotliCompressSync, gzipSync, constants as zlib } from 'node:zlib';

/** The widget's script in every encoding it is sent in, made once at the start. */
export interface WidgetScript {
  /** Tells one build from another: 16 hex digits of the SHA-256 of its text. */
  readonly hash: string;
  readonly plain: Uint8Array;
  readonly gzip: Uint8Array;
  readonly brotli: Uint8Array;
}

const builtFile = new URL('../widget-client/dist/widget.js', import.meta.url);

/** The script is made from `src/widget-client/` by `bin/build-widget.ts`, which the Makefile sees to. */
export class WidgetScriptMissing extends Error {
  override readonly name = 'WidgetScriptMissing';
}

export function loadWidgetScript(): WidgetScript {
  let plain: Buffer;
  try {
    plain = readFileSync(builtFile);
  } catch {
    throw new WidgetScriptMissing("the widget's script has not been built: run make install");
  }
  return {
    hash: createHash('sha256').update(plain).digest('hex').slice(0, 16),
    plain,
    gzip: gzipSync(plain, { level: zlib.Z_BEST_COMPRESSION }),
    brotli: brotliCompressSync(plain),
  };
}
