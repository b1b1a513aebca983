import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';

const beside = (path: string) => fileURLToPath(new URL(path, import.meta.url));

/** The page's script with uPlot in it, and its style sheet after uPlot's: texts to be put into the page. */
export async function readAssets(): Promise<{ readonly script: string; readonly style: string }> {
  const bundled = await build({
    entryPoints: [beside('../browser/main.ts')],
    write: false,
    bundle: true,
    format: 'iife',
    platform: 'browser',
    target: ['chrome105', 'edge105', 'firefox110', 'safari16.4'],
    minify: true,
    charset: 'utf8',
    // uPlot's licence asks for its notice to go along.
    legalComments: 'inline',
    logLevel: 'silent',
  });
  const uplotStyle = createRequire(import.meta.url).resolve('uplot/dist/uPlot.min.css');
  const styles = await Promise.all([uplotStyle, beside('./page.css')].map((path) => readFile(path, 'utf8')));
  return { script: bundled.outputFiles[0]!.text, style: styles.join('\n') };
}
