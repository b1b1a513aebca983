import { loadConfig } from '../../config/config.ts';
import { readEnv } from '../../config/env.ts';
import { addSecret } from '../../secrets/secret-file.ts';
import { printJson, printResult } from '../output.ts';
import { toStartError } from './start-error.ts';

export function addAndPrintSecret({ json }: { readonly json?: true }): void {
  const { config } = loadConfig(readEnv());
  try {
    const number = addSecret(config.secretFile);
    if (json) printJson({ number, file: config.secretFile });
    else printResult(`added secret ${number}; the service signs with it after its next start`);
  } catch (fault) {
    throw toStartError(fault, config);
  }
}
