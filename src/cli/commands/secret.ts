import { Command } from 'commander';
import { withHelp } from '../command-help.ts';
import { printJson, printResult } from '../output.ts';

export function secretCommand(): Command {
  const command = new Command('secret')
    .summary('manage the secrets that sign and encrypt tokens')
    .description('Manages the secret file of the service (SVC_SECRET_FILE, or secrets.json in the data folder).')
    .addCommand(rotateCommand());
  return withHelp(command, {
    examples: ['marketplace secret rotate', 'marketplace secret rotate --help'],
    exitCodes: { 1: null },
  });
}

function rotateCommand(): Command {
  const command = new Command('rotate')
    .summary('add a new secret, used from the next start of the service')
    .description(
      'Adds a new secret to the secret file. From its next start, the service signs and encrypts with it. Tokens of older secrets stay ' +
        'valid as long as those are in the file. Do not remove a secret while its tokens are in use: sub_ids live for 4 hours and are ' +
        'used in analytics as long as their rows are retained; lenders confirm click_ids up to 90 days after the click. ' +
        'The command does not print secrets.',
    )
    .option('--json', 'print one JSON object')
    .action(async (options: { readonly json?: true }) => {
      const { loadConfig } = await import('../../config/config.ts');
      const { readEnv } = await import('../../config/env.ts');
      const { addSecret } = await import('../../secrets/secret-file.ts');
      const { toStartError } = await import('../actions/start-error.ts');
      const { config } = loadConfig(readEnv());
      try {
        const number = addSecret(config.secretFile);
        if (options.json) printJson({ number, file: config.secretFile });
        else printResult(`added secret ${number}; the service uses it from its next start`);
      } catch (error) {
        throw toStartError(error, config);
      }
    });
  return withHelp(command, {
    examples: ['marketplace secret rotate', 'SVC_SECRET_FILE=/etc/marketplace/secrets.json marketplace secret rotate'],
    exitCodes: { 1: null },
    json: {
      output: 'one object',
      members: { number: 'number of the new secret, which is part of ids and tokens', file: 'path of the secret file' },
    },
  });
}
