import { Command } from 'commander';
import { withHelp } from './guide.ts';

export function catalogStatsCommand(): Command {
  const command = new Command('stats')
    .summary('describe what is in a catalog file')
    .description(
      'Describes a valid catalog: prices and worth by credit band, and how many offers are open to borrowers with each value of a field.',
    )
    .argument('<file>', 'the catalog file')
    .option('--json', 'print one JSON object')
    .action(async (file: string, options: { readonly json?: true }) => {
      const { printCatalogStats } = await import('./catalog-stats.ts');
      printCatalogStats(file, options);
    });
  return withHelp(command, {
    examples: [
      'marketplace catalog stats offers.json',
      `marketplace catalog stats offers.json --json | jq '.coverage[] | select(.field == "state").offers.AR'`,
    ],
    exitCodes: { 1: null },
    json: {
      output: 'one object; a spread is null, or an object with `min`, `median` and `max`',
      members: {
        file: 'as given',
        vertical: 'which the offers are for',
        lenders: 'how many',
        offers: 'how many',
        versions: 'what it is called in the log and in answers: an object with `live` and `test`',
        term_months: 'all terms that occur, ascending',
        payouts: 'by model, `cost_per_lead` and `cost_per_click`: an object with `offers` and the spread `usd`',
        never_shown: 'ids of offers that no borrower gets to see',
        bands:
          'an object for each credit band: `band`, `offers`, and spreads of `note_rate_percent`, `apr_percent`, `origination_fee_percent`, `approval_likelihood` and `click_usd`',
        coverage:
          'an object for each field: `field`, `offers` open to borrowers by its value, `not_told` for those without one',
        using: 'how many offers use each optional member',
      },
    },
  });
}
