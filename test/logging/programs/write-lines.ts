import process from 'node:process';
import { createStandardErrorLog } from '../../../src/logging/standard-error-log.ts';

// Writes as many 1 kB lines as the first argument says, one more after input on standard input, then exits like the server.
const { logger, flush } = createStandardErrorLog('info');
const text = 'x'.repeat(1_000);
for (let index = 0; index < Number(process.argv[2]); index++) logger.info({ index, text });
process.stdout.write('written\n');
process.stdin.once('data', async () => {
  process.stdin.destroy();
  logger.info('the last');
  process.stdout.write(`${await flush()}\n`, () => process.exit());
});
