import { generateCatalog } from '../offers/generate-catalog.ts';
import { servedVerticals } from '../verticals/served-verticals.ts';
import { CommandLineError } from './command-line-error.ts';
import { exitCodes } from './exit-codes.ts';
import { printPart } from './output.ts';

export interface GenerateCatalogOptions {
  readonly offers: number;
  readonly lenders?: number;
  readonly seed: number;
  readonly vertical: string;
  readonly json?: true;
}

export async function generate({ vertical: segment, json: _, ...options }: GenerateCatalogOptions): Promise<void> {
  if (options.lenders !== undefined && options.lenders > options.offers) {
    throw new CommandLineError('every lender needs an offer: --lenders must not exceed --offers', {
      exitCode: exitCodes.usage,
    });
  }
  const vertical = servedVerticals.find((served) => served.segment === segment);
  if (vertical === undefined) throw new Error('commander let an unknown vertical through');
  await printPart(JSON.stringify(generateCatalog({ ...options, vertical }), null, 2));
}
