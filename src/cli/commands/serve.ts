import { Command } from 'commander';
import { withHelp } from '../command-help.ts';

export function serveCommand(): Command {
  const command = new Command('serve')
    .summary('run the service')
    .description(
      'Runs the service in the foreground. SIGINT and SIGTERM drain the server, which then exits with 0; a second signal ends it at once with 1. SIGHUP reloads the catalog and the certificate. ' +
        'The settings are environment variables; marketplace check-config prints them. The addresses go to standard output, the log to standard error as one JSON object per line.',
    )
    .action(async () => {
      const { runServer } = await import('../actions/run-server.ts');
      await runServer();
    });
  return withHelp(command, {
    examples: ['marketplace serve', 'SVC_PORT=9000 SVC_DATA_DIR=/var/lib/marketplace marketplace serve'],
    exitCodes: { 0: 'stopped by a signal', 1: 'the start failed, or a second signal ended the drain' },
  });
}
