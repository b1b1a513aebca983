import { Command } from 'commander';
import { withHelp } from '../command-help.ts';

export function secretCommand(): Command {
  const command = new Command('secret')
    .summary('replace the secret that signs and seals')
    .description('Looks after the secret file of the service (SVC_SECRET_FILE, or secrets.json in the data folder).')
    .addCommand(rotateCommand());
  return withHelp(command, {
    examples: ['marketplace secret rotate', 'marketplace secret rotate --help'],
    exitCodes: { 1: null },
  });
}

function rotateCommand(): Command {
  const command = new Command('rotate')
    .summary('add a fresh secret, to sign and seal with from the next start on')
    .description(
      'Adds a fresh secret to the secret file. From its next start on, the service signs and seals with it. The older ones stay ' +
        'listed, and what they signed stays good: take none out before everything it signed is over. Sub ids live for 4 hours and ' +
        'are asked for in analytics for as long as their rows are kept; lenders confirm click ids up to 90 days after the click. ' +
        'No secret is printed.',
    )
    .option('--json', 'print one JSON object')
    .action(async (options: { readonly json?: true }) => {
      const { addAndPrintSecret } = await import('../actions/secret.ts');
      addAndPrintSecret(options);
    });
  return withHelp(command, {
    examples: ['marketplace secret rotate', 'SVC_SECRET_FILE=/etc/marketplace/secrets.json marketplace secret rotate'],
    exitCodes: { 1: null },
    json: {
      output: 'one object',
      members: { number: 'of the secret added; ids and tokens carry it', file: 'the secret file' },
    },
  });
}
