import { type VerifyLogOptions, verifyLog, type LogVerification, logSizeBytes } from '../events/check-log.ts';
import { nodeLogFiles } from '../events/node-log-files.ts';
import { createProgressBar } from './progress-bar.ts';
import { progressStreamFor } from './progress-stream.ts';

/** Checks a log from its first record to its last, and shows how far it has got. */
export async function checkLogWithProgress(
  folder: string,
  asked: { readonly json?: true },
  options: Pick<VerifyLogOptions, 'onRecord' | 'signal'>,
): Promise<LogVerification> {
  const bar = createProgressBar(progressStreamFor(asked), { total: logSizeBytes(nodeLogFiles, folder), unit: 'bytes' });
  try {
    return await verifyLog(nodeLogFiles, folder, { ...options, onBytesRead: (bytes) => bar.advance(bytes) });
  } finally {
    bar.clear();
  }
}
