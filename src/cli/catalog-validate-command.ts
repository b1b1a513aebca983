import { Command } from 'commander';
import { withHelp } from './guide.ts';

const positionMembers = {
  path: 'where it is in the catalog',
  line: 'the same in the text, from 1, or null',
  column: 'in UTF-16 units from 1, or null',
  problem: 'what is wrong, in words',
} as const;

export function catalogValidateCommand(): Command {
  const command = new Command('validate')
    .summary('check a catalog file')
    .description(
      'Checks a catalog file as a server would, and names each fault by its line and its path, one a line; of a valid file it notes the lenders whose logo cannot be shown. Nothing is changed. A server looks at its own file every second, so a checked one only has to be moved there.',
    )
    .argument('<file>', 'the catalog file')
    .option('--json', 'print one JSON object')
    .action(async (file: string, options: { readonly json?: true }) => {
      const { validateCatalogFile } = await import('./catalog-validate.ts');
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
