import { Command } from 'commander';
import { withHelp } from '../command-help.ts';

export function serveCommand(): Command {
  const command = new Command('serve')
    .summary('run the service until it is told to stop')
    .description(
      'Runs the service in the foreground. SIGINT and SIGTERM drain it and end it with exit code 0; a second one ends it at once, with 1. SIGHUP reads the catalog and the certificate again. ' +
        'Its settings are environment variables; marketplace check-config shows them. Where it serves goes to standard output, its log to standard error, a JSON object a line.',
    )
    .action(async () => {
      const { runServer } = await import('../actions/run-server.ts');
      await runServer();
    });
  return withHelp(command, {
    examples: ['marketplace serve', 'SVC_PORT=9000 SVC_DATA_DIR=/var/lib/marketplace marketplace serve'],
    exitCodes: { 0: 'it was told to stop, and has', 1: 'it could not start, or was told twice to stop' },
  });
}
