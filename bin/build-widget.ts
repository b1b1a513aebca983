/**
 * Bundles the widget's browser side into the one script that partners' pages load, and packs it as browsers take it: `node bin/build-widget.ts [FOLDER]`.
 * Without a folder it goes where the server looks for it.
 */
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { brotliCompressSync, constants, gzipSync } from 'node:zlib';
import { build, type Plugin, transform } from 'esbuild';

const client = fileURLToPath(new URL('../src/web/widget', import.meta.url));

/** The first versions with style sheets made by script, container queries and `inset`: all that the client relies on. */
const target = ['chrome105', 'edge105', 'firefox110', 'safari16.4'];

/** A style sheet imported by the client is its minified text. */
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

// Packed as well as it can be, once: it is sent to every browser.
const script = await readFile(outfile);
await writeFile(`${outfile}.gz`, gzipSync(script, { level: constants.Z_BEST_COMPRESSION }));
await writeFile(`${outfile}.br`, brotliCompressSync(script));
