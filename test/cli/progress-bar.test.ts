import assert from 'node:assert/strict';
import { test } from 'node:test';
import { bounds } from '../../src/bounds.ts';
import { createProgressBar, createRecoveryProgress, type ProgressStream } from '../../src/cli/progress-bar.ts';
import { ManualClock } from '../support/manual-clock.ts';

/** Terminal of one line that records what it shows and how often it is written to. */
class OneLineTerminal implements ProgressStream {
  readonly isTTY: boolean;
  readonly columns: number;
  shown = '';
  writes = 0;

  constructor({ isTTY = true, columns = 80 } = {}) {
    this.isTTY = isTTY;
    this.columns = columns;
  }

  write(text: string): void {
    this.writes++;
    assert.match(text, /^\r[^\r\n]*$/);
    const line = text.slice(1);
    assert.ok(line.length < (this.columns || 80), 'the line does not wrap');
    this.shown = (line + this.shown.slice(line.length)).trimEnd();
  }
}

function setUp(total: number, { unit = 'bytes', ...size }: { unit?: string; isTTY?: boolean; columns?: number } = {}) {
  const clock = new ManualClock();
  const terminal = new OneLineTerminal(size);
  const bar = createProgressBar(terminal, { total, unit, clock });
  const advance = (ms: number, amount: number): string => {
    clock.advance(ms);
    bar.advance(amount);
    return terminal.shown;
  };
  return { terminal, bar, advance };
}

test('the progress bar shows the percentage, the completed and total amount, and the remaining time', () => {
  const { advance } = setUp(10 * 1024 * 1024);
  assert.equal(advance(2_000, 2.5 * 1024 * 1024), ' 25% [######------------------] 2.5 MiB of 10.0 MiB, 6 s left');
  assert.equal(advance(2_000, 7.5 * 1024 * 1024), '100% [########################] 10.0 MiB of 10.0 MiB, 0 s left');
  assert.match(setUp(500, { unit: 'rows' }).advance(10_000, 50), / 50 rows of 500 rows, 1 min 30 s left$/);
});

test('truncates the progress bar on a narrow terminal, and uses 80 columns if the width is unknown', () => {
  assert.equal(setUp(100, { columns: 20 }).advance(2_000, 50), ' 50% [############-');
  assert.match(setUp(100, { columns: 0 }).advance(2_000, 50), /, 2 s left$/);
});

test('the progress bar shows 100 % if the work exceeds the expected amount or is empty', () => {
  assert.match(setUp(100).advance(2_000, 150), /^100% .* 150 bytes of 150 bytes, 0 s left$/);
  assert.match(setUp(0).advance(2_000, 0), /^100% .* 0 bytes of 0 bytes, 0 s left$/);
});

test('draws no progress bar if the work finishes quickly or the stream is not a terminal', () => {
  for (const [isTTY, ms] of [
    [true, bounds.progressBarDelayMs / 10],
    [false, 10_000],
  ] as const) {
    const { terminal, bar, advance } = setUp(100, { isTTY });
    for (let i = 0; i < 9; i++) advance(ms, 10);
    bar.clear();
    assert.equal(terminal.writes, 0);
  }
});

test('redraws the bar a few times per second, even if the work advances more often', () => {
  const { terminal, advance } = setUp(100_000);
  for (let ms = 0; ms < 3_000; ms++) for (let i = 0; i < 10; i++) advance(0.1, 1);
  const expected = (3_000 - bounds.progressBarDelayMs) / bounds.progressBarRedrawIntervalMs;
  assert.ok(Math.abs(terminal.writes - expected) <= 1, `${terminal.writes} writes`);
});

test('clear removes the progress bar, and later calls draw nothing', () => {
  const { terminal, bar, advance } = setUp(1_000_000_000);
  advance(2_000, 999_999_999);
  bar.clear();
  assert.equal(terminal.shown, '');
  bar.clear();
  assert.equal(advance(2_000, 1), '');
});

function setUpRecovery(isTTY: boolean) {
  const clock = new ManualClock();
  const terminal = new OneLineTerminal({ isTTY });
  const logged: unknown[] = [];
  const info = (...line: unknown[]) => logged.push(line);
  return { clock, terminal, logged, progress: createRecoveryProgress(terminal, { info }, clock) };
}

test('the recovery of logs shows one progress bar per log on a terminal', () => {
  const { clock, terminal, logged, progress } = setUpRecovery(true);
  for (const log of ['ledger', 'journal'] as const) {
    progress.onProgress(log, 1_024, 4_096);
    clock.advance(2_000);
    progress.onProgress(log, 2_048, 4_096);
    assert.match(terminal.shown, /50% \[#{12}-{12}\] 2\.0 KiB of 4\.0 KiB/);
  }
  progress.clear();
  assert.equal(terminal.shown, '');
  assert.deepEqual(logged, []);
});

test('the recovery of logs writes a log line every few seconds if standard error is no terminal', () => {
  const { clock, terminal, logged, progress } = setUpRecovery(false);
  for (let second = 1; second <= 12; second++) {
    clock.advance(1_000);
    progress.onProgress('ledger', second, 100);
  }
  progress.clear();
  const intervalSeconds = bounds.restoreProgressLogIntervalMs / 1_000;
  assert.deepEqual(
    logged,
    [intervalSeconds, 2 * intervalSeconds].map((bytesRead) => [
      { bytesRead, bytesTotal: 100 },
      'restoring from the ledger',
    ]),
  );
  assert.equal(terminal.writes, 0);
});
