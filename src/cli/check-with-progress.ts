import { type CheckLogOptions, checkLog, type LogCheck, logBytes } from '../events/check-log.ts';
import { nodeLogFiles } from '../events/node-log-files.ts';
import { progressBar } from './progress-bar.ts';
import { progressStream } from './progress-stream.ts';

/** Checks a log from its first record to its last, and shows how far it has got. */
export async function checkWithProgress(
  folder: string,
  asked: { readonly json?: true },
  options: Pick<CheckLogOptions, 'onRecord' | 'signal'>,
): Promise<LogCheck> {
  const bar = progressBar(progressStream(asked), { total: logBytes(nodeLogFiles, folder), unit: 'bytes' });
  try {
    return await checkLog(nodeLogFiles, folder, { ...options, onBytes: (bytes) => bar.advance(bytes) });
  } finally {
    bar.done();
  }
}
