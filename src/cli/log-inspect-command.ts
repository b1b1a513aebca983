import { Command } from 'commander';
import { bounds } from '../bounds.ts';
import { firstSequences } from '../events/log-format.ts';
import { LogWalk } from '../events/log-walk.ts';
import { nodeLogFiles } from '../events/node-log-files.ts';
import { RecordDecoder } from '../events/record-decoder.ts';
import { describeRecord, type RecordDescription, recordLine } from './describe-record.ts';
import { logFailure, logFolder } from './log-folder.ts';
import { printPart, say } from './output.ts';
import { wholeNumberUpTo } from './whole-number.ts';

interface Options {
  readonly from?: number;
  readonly count: number;
  readonly json?: true;
}

export function logInspectCommand(): Command {
  return new Command('inspect')
    .summary('show records of a log')
    .description('Shows records of a log, oldest first. A server may be running. The ledger holds no personal data.')
    .argument('[folder]', 'the folder of the log (default: the ledger of the data folder)')
    .option(
      '--from <position>',
      'the first record to show (default: the oldest)',
      wholeNumberUpTo(Number.MAX_SAFE_INTEGER),
    )
    .option('--count <n>', 'how many', wholeNumberUpTo(Number.MAX_SAFE_INTEGER), bounds.recordsInspected)
    .option('--json', 'print one JSON object a line')
    .addHelpText(
      'after',
      `
Examples:
  $ marketplace log inspect --from 1000 --count 5
  $ marketplace log inspect --count 1000000 --json | jq -r .kind | sort | uniq -c`,
    )
    .action(inspect);
}

async function inspect(named: string | undefined, { from = 1, count, json }: Options): Promise<void> {
  try {
    const folder = logFolder(named);
    const segment = firstSequences(nodeLogFiles.list(folder)).findLast((first) => first <= from);
    const walk = new LogWalk(nodeLogFiles, folder, { segment, decode: false });
    const decoder = new RecordDecoder();
    let shown = 0;
    try {
      while (shown < count && walk.next()) {
        if (walk.position < from) continue;
        const description = described(decoder, walk.payload);
        if (!(await printPart(recordLine(walk.position, description, json ?? false)))) return;
        shown++;
      }
      if (shown === 0) say(`The log ends at record ${walk.position}.`);
    } finally {
      walk.close();
    }
  } catch (fault) {
    throw logFailure(fault);
  }
}

function described(decoder: RecordDecoder, payload: Uint8Array): RecordDescription {
  let record: unknown[];
  try {
    record = decoder.decode(payload);
  } catch (error) {
    return { error: `cannot be decoded: ${error instanceof Error ? error.message : String(error)}` };
  }
  return describeRecord(record);
}
