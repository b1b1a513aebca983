import { Command } from 'commander';
import { catalogGenerateCommand } from './catalog-generate-command.ts';
import { catalogStatsCommand } from './catalog-stats-command.ts';
import { catalogValidateCommand } from './catalog-validate-command.ts';
import { guided } from './guide.ts';

export function catalogCommand(): Command {
  const command = new Command('catalog')
    .summary('check, describe and make up catalogs of offers')
    .description('Checks a catalog file before a server reads it, describes what is in one, and makes up large ones.')
    .addCommand(catalogValidateCommand())
    .addCommand(catalogStatsCommand())
    .addCommand(catalogGenerateCommand());
  return guided(command, {
    examples: [
      'marketplace catalog generate --offers 1000 > offers.json',
      'marketplace catalog validate offers.json',
      'marketplace catalog stats offers.json',
    ],
    exits: { 1: null },
  });
}
