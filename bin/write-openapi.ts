/**
 * Records the example requests and responses of the OpenAPI documents of all verticals, and writes the document of personal loans with default
 * settings to docs/openapi.json: `node bin/write-openapi.ts`.
 */

import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { resolveUrls } from '../src/config/resolve-urls.ts';
import { openApiText } from '../src/openapi/openapi-document.ts';
import { recordedExamplesUrl } from '../src/openapi/recorded-examples.ts';
import { builtInVerticals } from '../src/verticals/built-in-verticals.ts';
import { personalLoans } from '../src/verticals/personal-loans/personal-loans.ts';
import { captureExamples } from './record-examples.ts';

for (const vertical of builtInVerticals.verticals) {
  const examples = recordedExamplesUrl(vertical.segment);
  mkdirSync(new URL('.', examples), { recursive: true });
  // The service that records the examples refuses to start with a file that lacks an example.
  rmSync(examples, { force: true });
  writeFileSync(examples, `${JSON.stringify(await captureExamples(vertical), null, 2)}\n`);
}

const unset = { public: null, click: null, widget: null, cdn: null };
const { urls } = resolveUrls({ listen: null, urls: unset }, 8080);
writeFileSync(
  new URL('../docs/openapi.json', import.meta.url),
  openApiText(builtInVerticals.withProduct(personalLoans), urls),
);
