import { Command } from 'commander';
import { withHelp } from '../command-help.ts';

export function checkConfigCommand(): Command {
  const command = new Command('check-config')
    .summary('check the settings and print their values')
    .description(
      'Checks the environment variables of the service, and prints the value of each setting and its origin. Warns about risky values. ' +
        'Reads no files and prints no secrets.',
    )
    .option('--json', 'print one JSON object')
    .action(async (options: { readonly json?: true }) => {
      const { printConfig } = await import('../actions/check-config.ts');
      printConfig(options);
    });
  return withHelp(command, {
    examples: [
      'marketplace check-config',
      'SVC_PORT=99999 marketplace check-config || echo invalid',
      'marketplace check-config --json | jq -r .settings.SVC_DATA_DIR.value',
    ],
    exitCodes: { 0: 'all settings are valid', 1: 'a setting is invalid; standard error names it' },
    json: {
      output: 'one object',
      members: {
        settings: 'object with all settings by name',
        'settings.*.value': 'value: a string, a number, an array of strings, or null',
        'settings.*.from': '`environment` or `default`',
        warnings: 'array of sentences about risky or probably unintended values',
      },
    },
  });
}
