import { Command } from 'commander';
import { loadConfig } from '../config/config.ts';
import { readEnv } from '../config/env.ts';
import { addSecret } from '../secrets/secret-file.ts';
import { printResult } from './output.ts';
import { startFailure } from './start-failure.ts';

export function secretCommand(): Command {
  return new Command('secret')
    .summary('replace the secret that signs and seals')
    .description('Looks after the secret file of the service (SVC_SECRET_FILE, or secrets.json in the data folder).')
    .addCommand(rotateCommand())
    .addHelpText(
      'after',
      `
Examples:
  $ marketplace secret rotate`,
    );
}

function rotateCommand(): Command {
  return new Command('rotate')
    .summary('add a fresh secret, to sign and seal with from the next start on')
    .description(
      'Adds a fresh secret to the secret file. From its next start on, the service signs and seals with it. The older ones stay ' +
        'listed, and what they signed stays good: take none out before everything it signed is over. Sub ids live for 4 hours and ' +
        'are asked for in analytics for as long as their rows are kept; lenders confirm click ids up to 90 days after the click.',
    )
    .addHelpText(
      'after',
      `
Examples:
  $ marketplace secret rotate`,
    )
    .action(rotate);
}

function rotate(): void {
  const { config } = loadConfig(readEnv());
  try {
    const number = addSecret(config.secretFile);
    printResult(`added secret ${number}; the service signs with it after its next start`);
  } catch (fault) {
    throw startFailure(fault, config);
  }
}
