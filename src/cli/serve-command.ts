import { Command } from 'commander';
import { loadConfig } from '../config/config.ts';
import { readEnv } from '../config/env.ts';
import { say } from './output.ts';

export function serveCommand(): Command {
  return new Command('serve')
    .summary('run the service until it is told to stop')
    .description(
      'Runs the service in the foreground. SIGINT and SIGTERM drain it and end it with exit code 0,\na second one ends it at once with 1. SIGHUP reads the catalog and the certificate again.\nIts settings are environment variables; marketplace check-config shows them.',
    )
    .addHelpText(
      'after',
      `
Examples:
  $ marketplace serve
  $ SVC_PORT=9000 SVC_DATA_DIR=/var/lib/marketplace marketplace serve`,
    )
    .action(async () => {
      const { config, warnings } = loadConfig(readEnv());
      for (const warning of warnings) say(`marketplace: warning: ${warning}`);
      // Loaded here, since no other command should wait for the whole service to load.
      const { serve } = await import('./serve.ts');
      await serve(config);
    });
}
