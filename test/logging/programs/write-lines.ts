import process from 'node:process';
import { createStandardErrorLog } from '../../../src/logging/standard-error-log.ts';

// Writes the number of 1 kB lines in the first argument, waits for standard input, writes one more line and exits like the server.
const { logger, flush } = createStandardErrorLog('info');
const text = 'x'.repeat(1_000);
for (let index = 0; index < Number(process.argv[2]); index++) logger.info({ index, text });
process.stdout.write('written\n');
process.stdin.once('data', async () => {
  process.stdin.destroy();
  logger.info('the last');
  process.stdout.write(`${await flush()}\n`, () => process.exit());
});
