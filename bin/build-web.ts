/**
 * Bundles and compresses what runs in browsers: the widget script, which partners load on their pages, and the two consoles. Usage:
 * `node bin/build-web.ts [FOLDER]`. The default folder is `src/web`, from which the server reads the files.
 */
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { brotliCompressSync, constants, gzipSync } from 'node:zlib';
import { type BuildOptions, build, type Plugin, transform } from 'esbuild';

const sources = fileURLToPath(new URL('../src/web', import.meta.url));
const outputs = process.argv[2] ?? sources;

/** Oldest browser versions with the CSS features of the widget: constructable style sheets, container queries and `inset`. */
const target = ['chrome105', 'edge105', 'firefox110', 'safari16.4'];

/** esbuild plugin that imports a style sheet as a string of minified CSS. */
const styleText: Plugin = {
  name: 'style-text',
  setup(bundler) {
    bundler.onLoad({ filter: /\.css$/ }, async ({ path }) => {
      const { code } = await transform(await readFile(path, 'utf8'), { loader: 'css', minify: true, target });
      return { contents: code.trim(), loader: 'text' };
    });
  },
};

/**
 * Property names that esbuild shortens. Only the widget uses these names: neither the DOM, nor the API, nor attributes of the script element.
 * All of them are camelCase, and the members of the API are snake_case.
 */
const shortenedNames = [
  'canRetry',
  'createNoOffersAdvice',
  'createOfferCardContent',
  'createPicture',
  'detailsOpened',
  'disclosureOpened',
  'eventCount',
  'fetchOffers',
  'isFramePage',
  'isRendered',
  'lenderNote',
  'moreChosen',
  'observeOfferCards',
  'orderDisclosure',
  'partHeading',
  'partnerHint',
  'paymentDisclosure',
  'prequalificationNote',
  'prequalificationText',
  'productName',
  'retryPressed',
  'setMoreButton',
  'showChangeFailure',
  'showChangeInProgress',
  'showMessage',
  'showOffers',
  'showPlaceholders',
  'sortChosen',
  'sortOrderLabels',
  'waitMs',
];

const commonOptions: BuildOptions = {
  bundle: true,
  platform: 'browser',
  target,
  minify: true,
  charset: 'utf8',
  legalComments: 'none',
  logLevel: 'warning',
};

const widgetScript = join(outputs, 'widget/dist/widget.js');
await build({
  ...commonOptions,
  entryPoints: [join(sources, 'widget/main.ts')],
  outfile: widgetScript,
  format: 'iife',
  mangleProps: new RegExp(`^(?:${shortenedNames.join('|')})$`),
  plugins: [styleText],
});

// Each console has one script and one style sheet, because the strict CSP of the pages forbids inline styles.
const consoleFolder = join(outputs, 'console/dist');
const consoles = ['partner', 'operator'];
await build({
  ...commonOptions,
  entryPoints: consoles.map((name) => ({ in: join(sources, 'console', name, 'main.tsx'), out: name })),
  outdir: consoleFolder,
  format: 'esm',
  jsx: 'automatic',
  jsxImportSource: 'preact',
  legalComments: 'eof',
});

const consoleFiles = consoles.flatMap((name) => [`${name}.js`, `${name}.css`]);
await Promise.all([widgetScript, ...consoleFiles.map((name) => join(consoleFolder, name))].map(compress));

/** Writes a file with gzip and a file with Brotli. The compression level is the highest, because the files are downloaded often. */
async function compress(path: string): Promise<void> {
  const content = await readFile(path);
  await writeFile(`${path}.gz`, gzipSync(content, { level: constants.Z_BEST_COMPRESSION }));
  await writeFile(`${path}.br`, brotliCompressSync(content));
}
