/**
 * Bundles and compresses what runs in browsers: the widget script, which partners load on their pages, and the two consoles. Usage:
 * `node bin/build-web.ts [FOLDER]`. The default folder is `src/web`, from which the server reads the files.
 */
import { readdir, readFile, writeFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { brotliCompressSync, constants, gzipSync } from 'node:zlib';
import { type BuildOptions, build, type Plugin, transform } from 'esbuild';

const sources = fileURLToPath(new URL('../src/web', import.meta.url));
const outputs = process.argv[2] ?? sources;

/** Oldest browser versions with the CSS features of the widget: constructable style sheets, container queries and `inset`. */
const target = ['chrome105', 'edge105', 'firefox110', 'safari16.4'];

/** esbuild plugin that imports a style sheet as a string of minified CSS, after the design tokens of its theme. */
const styleText: Plugin = {
  name: 'style-text',
  setup(bundler) {
    bundler.onLoad({ filter: /\.css$/ }, async ({ path }) => {
      const css = (await readWidgetTokens(basename(path))) + (await readFile(path, 'utf8'));
      const { code } = await transform(css, { loader: 'css', minify: true, target });
      return { contents: code.trim(), loader: 'text' };
    });
  },
};

/**
 * Returns a rule with the design tokens of a theme that the widget uses and does not replace: the light ones for `shell.css`, the dark ones
 * for `dark.css`, and none for other style sheets.
 */
async function readWidgetTokens(styleSheet: string): Promise<string> {
  const theme = ['shell.css', 'dark.css'].indexOf(styleSheet);
  if (theme < 0) return '';
  const folder = join(sources, 'widget/styles');
  const sheets = await Promise.all((await readdir(folder)).map((name) => readFile(join(folder, name), 'utf8')));
  const declared = /(--[\w-]+):\s*[^;]+;/g;
  const own = new Set([...sheets.join('').matchAll(declared)].map(([, name]) => name));
  const used = new Set([...sheets.join('').matchAll(/var\((--[\w-]+)\)/g)].map(([, name]) => name));
  // The dark tokens are in a media query.
  const tokens = (await readFile(join(sources, 'tokens.css'), 'utf8')).split('@media')[theme]!;
  const shared = [...tokens.matchAll(declared)].filter(([, name]) => used.has(name) && !own.has(name));
  return `.panel{${shared.map(([declaration]) => declaration).join('')}}`;
}

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
