/**
 * Bundles the widget into the script that pages of partners load, and compresses it: `node bin/build-widget.ts [FOLDER]`. The default
 * folder is the one that the server reads.
 */
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { brotliCompressSync, constants, gzipSync } from 'node:zlib';
import { build, type Plugin, transform } from 'esbuild';

const client = fileURLToPath(new URL('../src/web/widget', import.meta.url));

/** The first browser versions with constructable style sheets, container queries and `inset`, which the widget uses. */
const target = ['chrome105', 'edge105', 'firefox110', 'safari16.4'];

/** Plugin that imports style sheets as minified text. */
const styleText: Plugin = {
  name: 'style-text',
  setup(bundler) {
    bundler.onLoad({ filter: /\.css$/ }, async ({ path }) => {
      const { code } = await transform(await readFile(path, 'utf8'), { loader: 'css', minify: true, target });
      return { contents: code.trim(), loader: 'text' };
    });
  },
};

const outfile = join(process.argv[2] ?? join(client, 'dist'), 'widget.js');
await build({
  entryPoints: [join(client, 'main.ts')],
  outfile,
  bundle: true,
  format: 'iife',
  platform: 'browser',
  target,
  minify: true,
  charset: 'utf8',
  legalComments: 'none',
  plugins: [styleText],
  logLevel: 'warning',
});

// The script is compressed with the highest level, because every browser loads it.
const script = await readFile(outfile);
await writeFile(`${outfile}.gz`, gzipSync(script, { level: constants.Z_BEST_COMPRESSION }));
await writeFile(`${outfile}.br`, brotliCompressSync(script));
