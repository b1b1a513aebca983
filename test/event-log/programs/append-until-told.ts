/**
 * Appends to the log of a folder, 64 at a time, and prints `durable <position>` for each record as soon as it is
 * acknowledged. Arguments: the folder, and how many records; it goes on until it is killed when there are none.
 */
import { writeLine } from '../../support/write-line.ts';
import { openLog, recordAt } from '../log-fixture.ts';

const [folder, count] = process.argv.slice(2);
const last = count === undefined ? Number.POSITIVE_INFINITY : Number(count);
const log = await openLog(folder!, { onIncident: (trouble) => writeLine(`trouble ${trouble.kind}`) });

async function appender(): Promise<void> {
  while (log.appendedPosition < last) {
    const position = log.appendedPosition + 1;
    await log.append(recordAt(position))!.durable;
    writeLine(`durable ${position}`);
  }
}

await Promise.all(Array.from({ length: 64 }, appender));
await log.close();
