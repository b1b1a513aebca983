import process from 'node:process';
import { createStandardErrorLog } from '../../../src/logging/standard-error-log.ts';

// Writes COUNT lines of a kilobyte and one more when told so on standard input, then ends as the server does.
const { logger, flush } = createStandardErrorLog('info');
const text = 'x'.repeat(1_000);
for (let at = 0; at < Number(process.argv[2]); at++) logger.info({ at, text });
process.stdout.write('written\n');
process.stdin.once('data', async () => {
  process.stdin.destroy();
  logger.info('the last');
  process.stdout.write(`${await flush()}\n`, () => process.exit());
});
