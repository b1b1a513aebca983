/** Prints a generated catalog. Example: `make catalog OFFERS=1000`. The same options give the same catalog. */
import { parseArgs } from 'node:util';
import { bounds } from '../../src/bounds.ts';
import { servedVerticals } from '../../src/verticals/registry.ts';
import { generateCatalog } from './generate-catalog.ts';

const { values } = parseArgs({
  options: {
    offers: { type: 'string', default: '1000' },
    lenders: { type: 'string' },
    seed: { type: 'string', default: '1' },
    vertical: { type: 'string', default: servedVerticals[0]!.segment },
  },
});
try {
  const vertical = servedVerticals.find(({ segment }) => segment === values.vertical);
  if (vertical === undefined) {
    throw new Error(`--vertical must be one of: ${servedVerticals.map(({ segment }) => segment).join(', ')}`);
  }
  const offers = wholeNumber('offers', values.offers, bounds.catalogOffersMax);
  const lenders = values.lenders === undefined ? {} : { lenders: wholeNumber('lenders', values.lenders, offers) };
  const seed = wholeNumber('seed', values.seed, 2 ** 32 - 1);
  process.stdout.write(`${JSON.stringify(generateCatalog({ seed, offers, vertical, ...lenders }), null, 2)}\n`);
} catch (error) {
  process.stderr.write(`catalog: ${(error as Error).message}\n`);
  process.exitCode = 2;
}

function wholeNumber(option: string, text: string, max: number): number {
  const value = /^\d{1,10}$/.test(text) ? Number(text) : 0;
  if (value < 1 || value > max) throw new Error(`--${option} must be an integer from 1 to ${max}`);
  return value;
}
