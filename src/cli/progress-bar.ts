import process from 'node:process';
import type { Logger } from 'pino';
import { bounds } from '../bounds.ts';
import { type Clock, systemClock } from '../domain/clock.ts';
import type { ServiceOptions } from '../server/service.ts';

/** What a bar is drawn on: standard error, or what a test takes for it. */
export interface ProgressStream {
  readonly isTTY?: boolean;
  readonly columns?: number;
  write(text: string): unknown;
}

interface ProgressBarOptions {
  /** How much there is to do, in `unit`; what is done may come to more. */
  readonly total: number;
  /** `bytes`, which are shown in their multiples, or whatever else is counted; null where the amounts tell nobody anything. */
  readonly unit: string | null;
  readonly clock?: Clock;
}

interface ProgressBar {
  /** That much more is done. Cheap enough to be called for every record. */
  advance(amount: number): void;
  /** Takes the bar away. Call it before anything else is written, also after a failure. Idempotent. */
  clear(): void;
}

/**
 * One line that shows how far a long work has got and how long the rest will take, redrawn a few times a second. Nothing is
 * drawn where the stream is no terminal, or for work that is over in about a second.
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
  /** Writes over what the line shows now; spaces, since not every terminal can erase. */
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
      // A full line would wrap, and the next one be drawn below it. Some terminals say they had no columns.
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

/** What a command draws its bar on: nothing with --json, with which errors alone go to standard error. */
export function progressStreamFor({ json }: { readonly json?: true }): ProgressStream {
  return json ? { write() {} } : process.stderr;
}

export interface SteppedProgress<Step extends string> {
  /** The steps before this one are over, and this share of it, from 0 to 1, is done. */
  update(step: Step, share?: number): void;
  /** Takes the bar away, as that of `ProgressBar`. */
  clear(): void;
}

/** One bar over work of several steps, given in their order with about how long each takes, in any unit. */
export function createSteppedProgress<Step extends string>(
  stream: ProgressStream,
  steps: Readonly<Record<Step, number>>,
  clock?: Clock,
): SteppedProgress<Step> {
  const begins: Partial<Record<string, number>> = {};
  let total = 0;
  for (const [step, length] of Object.entries<number>(steps)) {
    begins[step] = total;
    total += length;
  }
  const bar = createProgressBar(stream, { total, unit: null, ...(clock && { clock }) });
  let reached = 0;
  return {
    update(step, share = 0) {
      const now = begins[step]! + share * steps[step];
      bar.advance(now - reached);
      reached = now;
    },
    clear: () => bar.clear(),
  };
}

interface RecoveryProgress {
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
      logger.info({ bytes, ofBytes }, `restoring from the ${what}`);
    },
    clear: () => bar?.clear(),
  };
}
