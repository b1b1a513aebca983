import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';

const pathTo = (path: string) => fileURLToPath(new URL(path, import.meta.url));

/** The page's script with uPlot in it, and its style sheet after uPlot's: texts to be put into the page. */
export async function buildAssets(): Promise<{ readonly script: string; readonly style: string }> {
  const uplot = dirname(createRequire(import.meta.url).resolve('uplot/package.json'));
  const licence = await readFile(join(uplot, 'LICENSE'), 'utf8');
  const bundled = await build({
    entryPoints: [pathTo('../browser/main.ts')],
    write: false,
    bundle: true,
    format: 'iife',
    platform: 'browser',
    target: ['chrome105', 'edge105', 'firefox110', 'safari16.4'],
    minify: true,
    charset: 'utf8',
    // uPlot's licence asks to go along.
    banner: { js: `/*! With uPlot.\n${licence.trim()}\n*/` },
    legalComments: 'none',
    logLevel: 'silent',
  });
  const sheets = [join(uplot, 'dist/uPlot.min.css'), pathTo('./page.css')];
  const styles = await Promise.all(sheets.map((path) => readFile(path, 'utf8')));
  return { script: bundled.outputFiles[0]!.text, style: styles.join('\n') };
}
