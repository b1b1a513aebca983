import type { Logger } from 'pino';
import { bounds } from '../bounds.ts';
import { type Clock, systemClock } from '../domain/clock.ts';
import type { ServiceOptions } from '../service/service.ts';
import { type ProgressBar, type ProgressStream, createProgressBar } from './progress-bar.ts';

export interface RecoveryProgress {
  readonly onProgress: NonNullable<ServiceOptions['onRestoreProgress']>;
  /** Takes a bar away. Idempotent. */
  clear(): void;
}

/** Shows how far a start has got with what it reads back: as a bar on a terminal, else by a line of the log every few seconds. */
export function createRecoveryProgress(
  stream: ProgressStream,
  logger: Pick<Logger, 'info'>,
  clock: Clock = systemClock,
): RecoveryProgress {
  let bar: ProgressBar | null = null;
  let shown = { what: '', bytes: 0 };
  let nextLineMs = clock.monotonicMs() + bounds.restoreProgressLogIntervalMs;
  return {
    onProgress(what, bytes, ofBytes) {
      if (stream.isTTY === true) {
        if (what !== shown.what) {
          bar?.clear();
          bar = createProgressBar(stream, { total: ofBytes, unit: 'bytes', clock });
          shown = { what, bytes: 0 };
        }
        bar?.advance(bytes - shown.bytes);
        shown = { what, bytes };
        return;
      }
      const nowMs = clock.monotonicMs();
      if (nowMs < nextLineMs) return;
      nextLineMs = nowMs + bounds.restoreProgressLogIntervalMs;
      logger.info({ bytes, ofBytes }, `reading the ${what} back`);
    },
    clear: () => bar?.clear(),
  };
}
