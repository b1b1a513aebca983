import { existsSync } from 'node:fs';
import type { Command } from 'commander';
import { loadConfig } from '../../config/config.ts';
import { addSecret } from '../../secrets/secret-file.ts';
import { CommandLineError, createCommandGroup, defineCommand } from '../command.ts';
import { createCommandRecorder } from '../command-recorder.ts';
import { checkFolderClock } from '../folder-clock.ts';
import { printJson, printResult } from '../output.ts';
import { toStartupError } from './start-error.ts';

export function createCommand(): Command {
  return createCommandGroup(
    'secret',
    'Manages the secret file of the service (SVC_SECRET_FILE, or secrets.json in the data folder). Changes are recorded in the audit log of the data folder.',
    [rotateCommand()],
  );
}

function rotateCommand(): Command {
  return defineCommand('rotate', {
    summary: 'add a new secret, used from the next start of the service',
    description:
      'Adds a new secret to the secret file. From its next start, the service signs and encrypts with it. Tokens of older secrets stay ' +
      'valid as long as those are in the file. Do not remove a secret while its tokens are in use: sub_ids live for 4 hours and are ' +
      'used in analytics as long as their rows are retained; lenders confirm click_ids up to 90 days after the click. ' +
      'The command does not print secrets.',
    examples: ['marketplace secret rotate', 'SVC_SECRET_FILE=/etc/marketplace/secrets.json marketplace secret rotate'],
    json: 'one object: number, file',
  }).action(rotateSecret);
}

function rotateSecret({ json }: { readonly json?: true }): void {
  const { config } = loadConfig();
  const { dataDir, secretFile } = config;
  const clock = checkFolderClock(dataDir);
  try {
    const record = createCommandRecorder(dataDir, clock);
    const number = addSecret(secretFile, (added) => {
      // The secret file may be elsewhere. A new data folder would only contain the audit log.
      if (!existsSync(dataDir)) throw new CommandLineError(`there is no data folder at ${dataDir} (see SVC_DATA_DIR)`);
      record('secret.rotate', `secret ${added}`);
    });
    if (json) printJson({ number, file: secretFile });
    else printResult(`added secret ${number}; the service uses it from its next start`);
  } catch (error) {
    throw toStartupError(error, config);
  }
}
