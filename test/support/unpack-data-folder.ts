import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { gunzipSync } from 'node:zlib';

/** Decompresses all `.gz` files of a folder into another folder, with the same relative paths. Only the owner can read the files. */
export function unpackDataFolder(packed: string, folder: string): void {
  for (const name of readdirSync(packed, { recursive: true, encoding: 'utf8' })) {
    if (!name.endsWith('.gz')) continue;
    const path = join(folder, name.slice(0, -'.gz'.length));
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, gunzipSync(readFileSync(join(packed, name))), { mode: 0o600 });
  }
}
