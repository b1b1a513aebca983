import { Command } from 'commander';
import { bounds } from '../bounds.ts';
import { servedVerticals } from '../verticals/served-verticals.ts';
import type { GenerateCatalogOptions } from './catalog-generate.ts';
import { choiceOption } from './choice-option.ts';
import { guided } from './guide.ts';
import { wholeNumberUpTo } from './whole-number.ts';

export function catalogGenerateCommand(): Command {
  const command = new Command('generate')
    .summary('print a catalog of made-up offers')
    .description(
      'Prints a valid catalog of made-up lenders, for tests and measurements. The same options give the same catalog.',
    )
    .requiredOption('--offers <n>', 'how many offers', wholeNumberUpTo(bounds.catalogOffersMax))
    .option('--lenders <n>', 'by how many lenders (default: half as many)', wholeNumberUpTo(bounds.catalogOffersMax))
    .option('--seed <n>', 'which of the catalogs of that size', wholeNumberUpTo(2 ** 32 - 1), 1)
    .addOption(
      choiceOption(
        '--vertical <segment>',
        'the vertical the offers are for',
        servedVerticals.map(({ segment }) => segment),
      ).default(servedVerticals[0]!.segment),
    )
    .option('--json', 'changes only how errors are told: a catalog is JSON')
    .action(async (options: GenerateCatalogOptions) => {
      const { generate } = await import('./catalog-generate.ts');
      await generate(options);
    });
  return guided(command, {
    examples: [
      'marketplace catalog generate --offers 1000 > offers.json',
      'marketplace catalog generate --offers 10000 --lenders 600 --seed 7 > large.json',
    ],
    exits: { 1: null },
    json: { prints: 'the catalog, as without; docs/catalog.md has its members', members: {} },
  });
}
