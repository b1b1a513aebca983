import { Command, Option } from 'commander';
import { bounds } from '../bounds.ts';
import { generateCatalog } from '../offers/generate-catalog.ts';
import { servedVerticals } from '../verticals/served-verticals.ts';
import { CommandLineError } from './command-line-error.ts';
import { exitCodes } from './exit-codes.ts';
import { printPart } from './output.ts';
import { wholeNumberUpTo } from './whole-number.ts';

interface Options {
  readonly offers: number;
  readonly lenders?: number;
  readonly seed: number;
  readonly vertical: string;
}

export function catalogGenerateCommand(): Command {
  return new Command('generate')
    .summary('print a catalog of made-up offers')
    .description(
      'Prints a valid catalog of made-up lenders, for tests and measurements. The same options give the same catalog.',
    )
    .requiredOption('--offers <n>', 'how many offers', wholeNumberUpTo(bounds.catalogOffersMax))
    .option('--lenders <n>', 'by how many lenders (default: half as many)', wholeNumberUpTo(bounds.catalogOffersMax))
    .option('--seed <n>', 'which of the catalogs of that size', wholeNumberUpTo(2 ** 32 - 1), 1)
    .addOption(
      new Option('--vertical <segment>', 'the vertical the offers are for')
        .choices(servedVerticals.map(({ segment }) => segment))
        .default(servedVerticals[0]!.segment),
    )
    .addHelpText(
      'after',
      `
Examples:
  $ marketplace catalog generate --offers 1000 > offers.json
  $ marketplace catalog generate --offers 10000 --lenders 600 --seed 7 > large.json
  $ SVC_CATALOG=large.json marketplace serve`,
    )
    .action(generate);
}

async function generate({ vertical: segment, ...options }: Options): Promise<void> {
  if (options.lenders !== undefined && options.lenders > options.offers) {
    throw new CommandLineError('every lender needs an offer: --lenders must not exceed --offers', {
      exitCode: exitCodes.usage,
    });
  }
  const vertical = servedVerticals.find((served) => served.segment === segment);
  if (vertical === undefined) throw new Error('commander let an unknown vertical through');
  await printPart(JSON.stringify(generateCatalog({ ...options, vertical }), null, 2));
}
