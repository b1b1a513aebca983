/**
 * Bundles and compresses the widget script, which partners load on their pages: `node bin/build-widget.ts [FOLDER]`. By default, the
 * script is written to the folder from which the server reads it.
 */
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { brotliCompressSync, constants, gzipSync } from 'node:zlib';
import { build, type Plugin, transform } from 'esbuild';

const client = fileURLToPath(new URL('../src/web/widget', import.meta.url));

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

const outfile = join(process.argv[2] ?? join(client, 'dist'), 'widget.js');
await build({
  entryPoints: [join(client, 'main.ts')],
  outfile,
  bundle: true,
  format: 'iife',
  platform: 'browser',
  target,
  minify: true,
  mangleProps: new RegExp(`^(?:${shortenedNames.join('|')})$`),
  charset: 'utf8',
  legalComments: 'none',
  plugins: [styleText],
  logLevel: 'warning',
});

// The compression level is the highest, because the script is compressed once and downloaded often.
const script = await readFile(outfile);
await writeFile(`${outfile}.gz`, gzipSync(script, { level: constants.Z_BEST_COMPRESSION }));
await writeFile(`${outfile}.br`, brotliCompressSync(script));
