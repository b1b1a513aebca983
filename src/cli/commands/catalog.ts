import { Command } from 'commander';
import { withHelp } from '../command-help.ts';

const positionMembers = {
  path: 'path in the catalog',
  line: 'line of the text, from 1, or null',
  column: 'column in UTF-16 units, from 1, or null',
  problem: 'description',
} as const;

function catalogValidateCommand(): Command {
  const command = new Command('validate')
    .summary('validate a catalog file')
    .description(
      'Validates a catalog file with the rules of the server, and prints each error with its line and path. For a valid file it prints notes about lenders whose logo cannot be shown. It changes nothing. A server checks its own file every second, so a valid file only needs to be moved there.',
    )
    .argument('<file>', 'catalog file')
    .option('--json', 'print one JSON object')
    .action(async (file: string, options: { readonly json?: true }) => {
      const { validateCatalogFile } = await import('../actions/catalog.ts');
      await validateCatalogFile(file, options);
    });
  return withHelp(command, {
    examples: [
      'marketplace catalog validate offers.json',
      'marketplace catalog validate new.json && mv new.json offers.json',
      `marketplace catalog validate offers.json --json | jq -r '.faults[] | "\\(.line)\\t\\(.path)"'`,
    ],
    exitCodes: {
      0: 'the file is valid',
      1: 'the file is not valid or cannot be read; the reason is on standard error',
    },
    json: {
      output: 'one object, also for an invalid catalog',
      members: {
        file: 'path of the file',
        valid: 'whether a server would accept it',
        vertical: 'path segment of its vertical; this and the next three only for a valid file',
        lenders: 'number of lenders',
        offers: 'number of offers',
        versions: 'versions that the log and responses show: an object with `live` and `test`',
        faults: 'array with one object per error, in the order of the text, at most 1,000',
        ...Object.fromEntries(Object.entries(positionMembers).map(([name, meaning]) => [`faults[].${name}`, meaning])),
        rest: 'sentence about further errors, or null',
        notes: 'notes about a valid file: objects like those of `faults`',
      },
    },
  });
}

function catalogStatsCommand(): Command {
  const command = new Command('stats')
    .summary('print statistics of a catalog file')
    .description(
      'Prints statistics of a valid catalog: prices and payouts by credit band, and the number of offers that accept each value of a field.',
    )
    .argument('<file>', 'catalog file')
    .option('--json', 'print one JSON object')
    .action(async (file: string, options: { readonly json?: true }) => {
      const { printCatalogStats } = await import('../actions/catalog.ts');
      printCatalogStats(file, options);
    });
  return withHelp(command, {
    examples: [
      'marketplace catalog stats offers.json',
      `marketplace catalog stats offers.json --json | jq '.coverage[] | select(.field == "state").offers.AR'`,
    ],
    exitCodes: { 1: null },
    json: {
      output: 'one object; a distribution is null or an object with `min`, `median` and `max`',
      members: {
        file: 'path of the file',
        vertical: 'path segment of its vertical',
        lenders: 'number of lenders',
        offers: 'number of offers',
        versions: 'versions that the log and responses show: an object with `live` and `test`',
        term_months: 'all terms in months, ascending',
        payouts:
          'by payout model, `cost_per_lead` and `cost_per_click`: an object with `offers` and the distribution `usd`',
        never_shown: 'ids of offers that no borrower can see',
        bands:
          'one object per credit band: `band`, `offers`, and distributions of `note_rate_percent`, `apr_percent`, `origination_fee_percent`, `approval_likelihood` and `click_usd`',
        coverage:
          'one object per field: `field`, `offers` that accept each value, and `not_told`: offers that accept borrowers without a value',
        using: 'number of offers that use each optional member',
      },
    },
  });
}

export function catalogCommand(): Command {
  const command = new Command('catalog')
    .summary('validate catalogs of offers, or print statistics')
    .description('Validates a catalog file before a server reads it, and prints statistics of its offers.')
    .addCommand(catalogValidateCommand())
    .addCommand(catalogStatsCommand());
  return withHelp(command, {
    examples: ['marketplace catalog validate offers.json', 'marketplace catalog stats offers.json'],
    exitCodes: { 1: null },
  });
}
