import type { Logger } from 'pino';
import { bounds } from '../bounds.ts';
import { type Clock, systemClock } from '../domain/clock.ts';
import type { ServiceOptions } from '../service/service.ts';
import { type ProgressBar, type ProgressStream, progressBar } from './progress-bar.ts';

export interface ReadBackProgress {
  readonly onReadBack: NonNullable<ServiceOptions['onReadBack']>;
  /** Takes a bar away. Idempotent. */
  done(): void;
}

/** Shows how far a start has got with what it reads back: as a bar on a terminal, else by a line of the log every few seconds. */
export function readBackProgress(
  stream: ProgressStream,
  logger: Pick<Logger, 'info'>,
  clock: Clock = systemClock,
): ReadBackProgress {
  let bar: ProgressBar | null = null;
  let shown = { what: '', bytes: 0 };
  let nextLineMs = clock.monotonicMs() + bounds.readBackLoggedMs;
  return {
    onReadBack(what, bytes, ofBytes) {
      if (stream.isTTY === true) {
        if (what !== shown.what) {
          bar?.done();
          bar = progressBar(stream, { total: ofBytes, unit: 'bytes', clock });
          shown = { what, bytes: 0 };
        }
        bar?.advance(bytes - shown.bytes);
        shown = { what, bytes };
        return;
      }
      const nowMs = clock.monotonicMs();
      if (nowMs < nextLineMs) return;
      nextLineMs = nowMs + bounds.readBackLoggedMs;
      logger.info({ bytes, ofBytes }, `reading the ${what} back`);
    },
    done: () => bar?.done(),
  };
}
