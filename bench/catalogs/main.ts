/** Prints a generated catalog. Example: `make catalog OFFERS=1000`. The same options give the same catalog. */

import { parseArgs } from 'node:util';
import { bounds } from '../../src/bounds.ts';
import { builtInVerticals } from '../../src/verticals/built-in-verticals.ts';
import { parseIntegerOption, runBenchMain } from '../run-main.ts';
import { catalogGenerators } from './catalog-generators.ts';

await runBenchMain(
  'catalog',
  async () => {
    const { values } = parseArgs({
      options: {
        offers: { type: 'string', default: '1000' },
        lenders: { type: 'string' },
        seed: { type: 'string', default: '1' },
        vertical: { type: 'string', default: builtInVerticals.verticals[0]!.segment },
      },
    });
    const vertical = builtInVerticals.verticals.find(({ segment }) => segment === values.vertical);
    if (vertical === undefined) {
      throw new Error(
        `--vertical must be one of: ${builtInVerticals.verticals.map(({ segment }) => segment).join(', ')}`,
      );
    }
    const generate = catalogGenerators[vertical.segment]!;
    const offers = parseIntegerOption('--offers', values.offers, 1, bounds.catalogOffersMax);
    const lenders =
      values.lenders === undefined ? {} : { lenders: parseIntegerOption('--lenders', values.lenders, 1, offers) };
    const seed = parseIntegerOption('--seed', values.seed, 1, 2 ** 32 - 1);
    process.stdout.write(`${JSON.stringify(generate({ seed, offers, vertical, ...lenders }), null, 2)}\n`);
  },
  2,
);
