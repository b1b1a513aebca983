import { generateCatalog } from '../offers/generate-catalog.ts';
import { servedVerticals } from '../verticals/served-verticals.ts';
import { CommandLineError } from './command-line-error.ts';
import { exitCodes } from './exit-codes.ts';
import { printPart } from './output.ts';
import { progressBar } from './progress-bar.ts';
import { progressStream } from './progress-stream.ts';

export interface GenerateCatalogOptions {
  readonly offers: number;
  readonly lenders?: number;
  readonly seed: number;
  readonly vertical: string;
  readonly json?: true;
}

export async function generate(given: GenerateCatalogOptions): Promise<void> {
  const { vertical: segment, json: _, ...options } = given;
  if (options.lenders !== undefined && options.lenders > options.offers) {
    throw new CommandLineError('every lender needs an offer: --lenders must not exceed --offers', {
      exitCode: exitCodes.usage,
    });
  }
  const vertical = servedVerticals.find((served) => served.segment === segment);
  if (vertical === undefined) throw new Error('commander let an unknown vertical through');
  const bar = progressBar(progressStream(given), { total: options.offers, unit: 'offers' });
  let text: string;
  try {
    const catalog = generateCatalog({ ...options, vertical, onOffers: (more) => bar.advance(more) });
    text = JSON.stringify(catalog, null, 2);
  } finally {
    bar.done();
  }
  await printPart(text);
}
