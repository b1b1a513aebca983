import { Command } from 'commander';
import { catalogStatsCommand } from './catalog-stats-command.ts';
import { catalogValidateCommand } from './catalog-validate-command.ts';
import { withHelp } from './guide.ts';

export function catalogCommand(): Command {
  const command = new Command('catalog')
    .summary('validate and describe catalogs of offers')
    .description('Validates a catalog file before a server reads it, and describes the offers in it.')
    .addCommand(catalogValidateCommand())
    .addCommand(catalogStatsCommand());
  return withHelp(command, {
    examples: [
      'marketplace catalog validate offers.json',
      'marketplace catalog stats offers.json',
    ],
    exitCodes: { 1: null },
  });
}
