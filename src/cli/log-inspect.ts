import { segmentFirstSequences } from '../events/log-format.ts';
import { LogScanner } from '../events/log-walk.ts';
import { nodeLogFiles } from '../events/node-log-files.ts';
import { RecordDecoder } from '../events/record-decoder.ts';
import { describeRecord, type RecordDescription, formatRecordLine } from './describe-record.ts';
import { toLogCommandError, resolveLogFolder } from './log-folder.ts';
import { printChunk, printNotice } from './output.ts';

export interface InspectOptions {
  readonly from?: number;
  readonly count: number;
  readonly json?: true;
}

export async function inspectLog(named: string | undefined, { from = 1, count, json }: InspectOptions): Promise<void> {
  try {
    const folder = resolveLogFolder(named);
    const segment = segmentFirstSequences(nodeLogFiles.listNames(folder)).findLast((first) => first <= from);
    const walk = new LogScanner(nodeLogFiles, folder, { segment, decode: false });
    const decoder = new RecordDecoder();
    let shown = 0;
    try {
      while (shown < count && walk.nextRecord()) {
        if (walk.position < from) continue;
        const description = decodeAndDescribe(decoder, walk.payload);
        if (!(await printChunk(formatRecordLine(walk.position, description, json ?? false)))) return;
        shown++;
      }
      if (shown === 0 && !json) printNotice(`The log ends at record ${walk.position}.`);
    } finally {
      walk.close();
    }
  } catch (fault) {
    throw toLogCommandError(fault);
  }
}

function decodeAndDescribe(decoder: RecordDecoder, payload: Uint8Array): RecordDescription {
  let record: unknown[];
  try {
    record = decoder.decode(payload);
  } catch (error) {
    return { error: `cannot be decoded: ${error instanceof Error ? error.message : String(error)}` };
  }
  return describeRecord(record);
}
