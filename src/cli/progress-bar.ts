import process from 'node:process';
import type { Logger } from 'pino';
import { bounds } from '../bounds.ts';
import { type Clock, systemClock } from '../domain/clock.ts';
import type { ServiceOptions } from '../server/service.ts';
import { runInterruptible } from './signals.ts';

/** Stream on which a progress bar is drawn: standard error, or a substitute in tests. */
export interface ProgressStream {
  readonly isTTY?: boolean;
  readonly columns?: number;
  write(text: string): unknown;
}

interface ProgressBarOptions {
  /** Expected amount of work in `unit`. If more work is finished than expected, the bar stays at 100%. */
  readonly total: number;
  /** Unit of the displayed amounts; `bytes` are displayed as KiB, MiB and so on. If `unit` is null, the bar displays no amounts. */
  readonly unit: string | null;
  readonly clock?: Clock;
}

interface ProgressBar {
  /** Adds `amount` to the finished work. `advance` is fast enough to be called for every record of a log. */
  readonly advance: (amount: number) => void;
  /** Removes the progress bar. Call `clear` before printing other output and after a failure. Repeated calls have no effect. */
  clear(): void;
}

/**
 * Creates a one-line progress bar that displays the percentage of finished work and the remaining time. The bar is drawn only on a
 * terminal, and only if the work takes longer than about a second.
 */
export function createProgressBar(
  stream: ProgressStream,
  { total, unit, clock = systemClock }: ProgressBarOptions,
): ProgressBar {
  if (stream.isTTY !== true) return { advance() {}, clear() {} };
  const startMs = clock.monotonicMs();
  let nextDrawMs = startMs + bounds.progressBarDelayMs;
  let doneSoFar = 0;
  let drawnCharacters = 0;
  /** Replaces the text on the current line. The new text is padded with spaces, because not every terminal can erase a line. */
  const draw = (text: string): void => {
    stream.write(`\r${text.padEnd(drawnCharacters)}`);
    drawnCharacters = text.length;
  };
  return {
    advance(amount) {
      doneSoFar += amount;
      const nowMs = clock.monotonicMs();
      if (nowMs < nextDrawMs) return;
      nextDrawMs = nowMs + bounds.progressBarRedrawIntervalMs;
      // A line of the full terminal width would wrap, so the text is one character shorter. If a terminal reports 0 columns, 80 columns are
      // assumed.
      draw(formatProgressLine(doneSoFar, total, unit, nowMs - startMs).slice(0, (stream.columns || 80) - 1));
    },
    clear() {
      nextDrawMs = Number.POSITIVE_INFINITY;
      if (drawnCharacters === 0) return;
      draw('');
      stream.write('\r');
    },
  };
}

const barCharacters = 24;

function formatProgressLine(done: number, total: number, unit: string | null, elapsedMs: number): string {
  const share = total > 0 ? Math.min(1, done / total) : 1;
  const bar = '#'.repeat(Math.floor(share * barCharacters)).padEnd(barCharacters, '-');
  const percent = String(Math.floor(share * 100)).padStart(3);
  const amounts = unit === null ? '' : ` ${formatAmount(done, unit)} of ${formatAmount(Math.max(done, total), unit)}`;
  const left = share > 0 ? `, ${formatDuration((elapsedMs * (1 - share)) / share)} left` : '';
  return `${percent}% [${bar}]${amounts}${left}`;
}

const byteUnits = ['bytes', 'KiB', 'MiB', 'GiB', 'TiB'];

function formatAmount(amount: number, unit: string): string {
  if (unit !== 'bytes') return `${amount} ${unit}`;
  const power = Math.min(byteUnits.length - 1, Math.floor(Math.log2(Math.max(1, amount)) / 10));
  return `${(amount / 1024 ** power).toFixed(power === 0 ? 0 : 1)} ${byteUnits[power]}`;
}

function formatDuration(ms: number): string {
  const seconds = Math.ceil(ms / 1000);
  return seconds < 60 ? `${seconds} s` : `${Math.floor(seconds / 60)} min ${seconds % 60} s`;
}

/**
 * Runs a long operation that a signal can interrupt (see `runInterruptible`), and displays its progress on standard error. With --json, no
 * progress is displayed, because standard error must contain only errors.
 */
export async function runWithProgress<Result>(
  { json }: { readonly json?: true },
  options: ProgressBarOptions,
  work: (advance: ProgressBar['advance'], signal: AbortSignal) => Promise<Result>,
): Promise<Result> {
  const bar = createProgressBar(json ? { write() {} } : process.stderr, options);
  try {
    return await runInterruptible((signal) => work(bar.advance, signal));
  } finally {
    bar.clear();
  }
}

/** Reports the progress of log recovery at the start of a server: as a bar on a terminal, otherwise as a log line every few seconds. */
export function createRecoveryProgress(
  stream: ProgressStream,
  logger: Pick<Logger, 'info'>,
  clock: Clock = systemClock,
): { readonly onProgress: NonNullable<ServiceOptions['onRestoreProgress']> } & Pick<ProgressBar, 'clear'> {
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
      logger.info({ bytesRead: bytes, bytesTotal: ofBytes }, `restoring from the ${what}`);
    },
    clear: () => bar?.clear(),
  };
}
