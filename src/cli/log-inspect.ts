import { firstSequences } from '../events/log-format.ts';
import { LogWalk } from '../events/log-walk.ts';
import { nodeLogFiles } from '../events/node-log-files.ts';
import { RecordDecoder } from '../events/record-decoder.ts';
import { describeRecord, type RecordDescription, recordLine } from './describe-record.ts';
import { logFailure, logFolder } from './log-folder.ts';
import { printPart, say } from './output.ts';

export interface InspectOptions {
  readonly from?: number;
  readonly count: number;
  readonly json?: true;
}

export async function inspect(named: string | undefined, { from = 1, count, json }: InspectOptions): Promise<void> {
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
      if (shown === 0 && !json) say(`The log ends at record ${walk.position}.`);
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
