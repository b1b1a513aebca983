import { Command } from 'commander';
import { withHelp } from '../command-help.ts';

const positionMembers = {
  path: 'where it is in the catalog',
  line: 'the same in the text, from 1, or null',
  column: 'in UTF-16 units from 1, or null',
  problem: 'what is wrong, in words',
} as const;

function catalogValidateCommand(): Command {
  const command = new Command('validate')
    .summary('check a catalog file')
    .description(
      'Checks a catalog file as a server would, and names each fault by its line and its path, one a line; of a valid file it notes the lenders whose logo cannot be shown. Nothing is changed. A server looks at its own file every second, so a checked one only has to be moved there.',
    )
    .argument('<file>', 'the catalog file')
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
    exitCodes: { 0: 'it is valid', 1: 'it is not, or cannot be read; the reason is on standard error' },
    json: {
      output: 'one object, also for a catalog that is not valid',
      members: {
        file: 'as given',
        valid: 'whether a server would take it',
        vertical: 'only of a valid one, with the next three',
        lenders: 'how many',
        offers: 'how many',
        versions: 'what it is called in the log and in answers: an object with `live` and `test`',
        faults: 'an array with an object for each fault, in the order of the text, at most 1,000',
        ...Object.fromEntries(Object.entries(positionMembers).map(([name, what]) => [`faults[].${name}`, what])),
        rest: 'a sentence about faults not named, or null',
        notes: 'what is no fault: objects like those of `faults`',
      },
    },
  });
}

function catalogStatsCommand(): Command {
  const command = new Command('stats')
    .summary('describe what is in a catalog file')
    .description(
      'Describes a valid catalog: prices and worth by credit band, and how many offers are open to borrowers with each value of a field.',
    )
    .argument('<file>', 'the catalog file')
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

export function catalogCommand(): Command {
  const command = new Command('catalog')
    .summary('validate and describe catalogs of offers')
    .description('Validates a catalog file before a server reads it, and describes the offers in it.')
    .addCommand(catalogValidateCommand())
    .addCommand(catalogStatsCommand());
  return withHelp(command, {
    examples: ['marketplace catalog validate offers.json', 'marketplace catalog stats offers.json'],
    exitCodes: { 1: null },
  });
}
