import assert from 'node:assert/strict';
import { test } from 'node:test';
import { bounds } from '../../src/bounds.ts';
import { createProgressBar, type ProgressStream } from '../../src/cli/progress-bar.ts';
import { ManualClock } from '../support/manual-clock.ts';

/** A terminal of one line: what it shows, and how often it was written to. */
class Terminal implements ProgressStream {
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
    assert.ok(line.length < this.columns, 'the line does not wrap');
    this.shown = (line + this.shown.slice(line.length)).trimEnd();
  }
}

function setUp(terminal: Terminal, total: number, unit = 'bytes') {
  const clock = new ManualClock();
  const bar = createProgressBar(terminal, { total, unit, clock });
  const after = (ms: number, amount: number): string => {
    clock.advance(ms);
    bar.advance(amount);
    return terminal.shown;
  };
  return { bar, after };
}

test('a bar shows how far the work has got, of how much, and how long the rest will take', () => {
  const { after } = setUp(new Terminal(), 10 * 1024 * 1024);
  assert.equal(after(2_000, 2.5 * 1024 * 1024), ' 25% [######------------------] 2.5 MiB of 10.0 MiB, 6 s left');
  assert.equal(after(2_000, 7.5 * 1024 * 1024), '100% [########################] 10.0 MiB of 10.0 MiB, 0 s left');
});

test('what is not bytes is counted as it is, and minutes are told', () => {
  const { after } = setUp(new Terminal(), 500, 'rows');
  assert.equal(after(10_000, 50), ' 10% [##----------------------] 50 rows of 500 rows, 1 min 30 s left');
});

test('work that is over soon shows nothing', () => {
  const terminal = new Terminal();
  const { bar, after } = setUp(terminal, 100);
  for (let i = 0; i < 9; i++) after(bounds.progressBarDelayMs / 10, 10);
  bar.clear();
  assert.equal(terminal.writes, 0);
});

test('a bar is drawn a few times a second, however often the work advances', () => {
  const terminal = new Terminal();
  const { after } = setUp(terminal, 100_000);
  for (let ms = 0; ms < 3_000; ms++) for (let i = 0; i < 10; i++) after(0.1, 1);
  const drawn = (3_000 - bounds.progressBarDelayMs) / bounds.progressBarRedrawIntervalMs;
  assert.ok(Math.abs(terminal.writes - drawn) <= 1, `${terminal.writes} writes`);
});

test('nothing is written where there is no terminal', () => {
  const terminal = new Terminal({ isTTY: false });
  const { bar, after } = setUp(terminal, 100);
  after(10_000, 50);
  bar.clear();
  assert.equal(terminal.writes, 0);
});

test('a bar leaves the line empty when it is done, and stays away', () => {
  const terminal = new Terminal();
  const { bar, after } = setUp(terminal, 1_000_000_000);
  after(2_000, 999_999_999);
  bar.clear();
  assert.equal(terminal.shown, '');
  bar.clear();
  assert.equal(after(2_000, 1), '');
});

test('a narrow terminal shows as much as goes on one line', () => {
  const terminal = new Terminal({ columns: 20 });
  assert.equal(setUp(terminal, 100).after(2_000, 50), ' 50% [############-');
});

test('a terminal that does not know its width is taken for a usual one', () => {
  const written: string[] = [];
  const terminal = { isTTY: true, columns: 0, write: (text: string) => written.push(text) };
  const clock = new ManualClock();
  const bar = createProgressBar(terminal, { total: 100, unit: 'rows', clock });
  clock.advance(2_000);
  bar.advance(50);
  assert.match(written[0]!, /, 2 s left$/);
});

test('a log that grows meanwhile, or holds nothing, is no more than all', () => {
  assert.match(setUp(new Terminal(), 100).after(2_000, 150), /^100% .* 150 bytes of 150 bytes, 0 s left$/);
  assert.match(setUp(new Terminal(), 0).after(2_000, 0), /^100% .* 0 bytes of 0 bytes, 0 s left$/);
});
