import { Command } from 'commander';
import { withHelp } from '../command-help.ts';

export function checkConfigCommand(): Command {
  const command = new Command('check-config')
    .summary('check the settings and show what they come to')
    .description(
      'Checks the environment variables of the service, and shows what each comes to and where that is from. What is allowed but risky is warned of. ' +
        'No file is read, and no secret shown.',
    )
    .option('--json', 'print one JSON object')
    .action(async (options: { readonly json?: true }) => {
      const { printConfig } = await import('../actions/check-config.ts');
      printConfig(options);
    });
  return withHelp(command, {
    examples: [
      'marketplace check-config',
      'SVC_PORT=99999 marketplace check-config || echo refused',
      'marketplace check-config --json | jq -r .settings.SVC_DATA_DIR.value',
    ],
    exitCodes: { 0: 'no setting is wrong', 1: 'a setting is wrong; standard error says which' },
    json: {
      output: 'one object',
      members: {
        settings: 'every setting by its name',
        'settings.*.value': 'what it comes to: a text, a number, a list of origins, or null where there is none',
        'settings.*.from': '`environment` or `default`',
        warnings: 'a list of sentences about what is probably not meant, or risky',
      },
    },
  });
}
