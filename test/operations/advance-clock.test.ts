import assert from 'node:assert/strict';
import { test } from 'node:test';
import { serviceActor } from '../../src/audit/audit-log.ts';
import { bounds } from '../../src/bounds.ts';
import { daysSinceEpoch, formatIsoTimestamp, msPerDay } from '../../src/domain/calendar.ts';
import { TestClock } from '../../src/domain/test-clock.ts';
import { ClockAdvance } from '../../src/operations/advance-clock.ts';
import { ManualClock } from '../support/manual-clock.ts';
import { MemoryAudit } from '../support/memory-audit.ts';

/** Creates a clock and its advance, and records what happens in order. */
function createAdvance({ advancedDays = 0, storeDays = async (_days: number) => {} } = {}) {
  const machineClock = new ManualClock();
  const clock = new TestClock(machineClock, advancedDays);
  const startMs = machineClock.wallMs();
  const events: string[] = [];
  const record = (event: string) => events.push(`${event} at day ${Math.floor((clock.wallMs() - startMs) / msPerDay)}`);
  let runTask = async () => {};
  const audit = new MemoryAudit();
  const advance = new ClockAdvance({
    clock,
    audit: audit.trail,
    storeDays: async (days) => {
      record(`store ${days}`);
      await storeDays(days);
    },
    dayTasks: [
      async () => {
        await runTask();
        record('first task');
      },
      async () => void record('second task'),
    ],
    onAdvanced: () => record('advanced'),
    onStoreError: () => record('error'),
  });
  const setTask = (task: () => Promise<void>) => {
    runTask = task;
  };
  return { machineClock, clock, startMs, events, advance, setTask, audit };
}

test('stores the new time, then moves the clock day by day and runs the tasks of each day in order', async () => {
  const { machineClock, clock, startMs, events, advance } = createAdvance();
  machineClock.advance(5_000);
  const now = formatIsoTimestamp(startMs + 5_000 + 2 * msPerDay);
  const monotonicMs = clock.monotonicMs();
  assert.deepEqual(await advance.advance(2, serviceActor), { ok: true, value: { now, advanced_days: 2 } });
  assert.deepEqual(advance.readTime(), { now, advanced_days: 2 });
  assert.deepEqual(events, [
    'store 2 at day 0',
    'first task at day 1',
    'second task at day 1',
    'first task at day 2',
    'second task at day 2',
    'advanced at day 2',
  ]);
  assert.equal(clock.monotonicMs(), monotonicMs);
});

test('runs the tasks once for each UTC day that begins', async () => {
  const { clock, advance, setTask } = createAdvance();
  const days: number[] = [daysSinceEpoch(clock.wallMs())];
  setTask(async () => void days.push(daysSinceEpoch(clock.wallMs())));
  await advance.advance(bounds.testClockDaysPerRequestMax, serviceActor);
  const expected = Array.from({ length: bounds.testClockDaysPerRequestMax + 1 }, (_, day) => days[0]! + day);
  assert.deepEqual(days, expected);
});

test('rejects a number of days outside the bounds, and changes nothing', async () => {
  const { testClockDaysMax: daysMax, testClockDaysPerRequestMax: perRequestMax } = bounds;
  const { clock, events, advance } = createAdvance({ advancedDays: daysMax - 2 });
  for (const days of [undefined, null, '1', true, 0, -1, 0.5, Number.NaN, 1e300, perRequestMax + 1, 3, [1]]) {
    const outcome = await advance.advance(days, serviceActor);
    assert.ok(!outcome.ok && outcome.error.code === 'INVALID_REQUEST' && outcome.error.param === 'advance_days');
  }
  assert.deepEqual([clock.advancedDays, events], [daysMax - 2, []]);
  assert.ok((await advance.advance(2, serviceActor)).ok);
  assert.equal((await advance.advance(1, serviceActor)).ok, false);
});

test('rejects an advance while another is in progress', async () => {
  const { clock, advance, setTask } = createAdvance();
  const blocked = Promise.withResolvers<void>();
  setTask(() => blocked.promise);
  const first = advance.advance(2, serviceActor);
  const second = await advance.advance(5, serviceActor);
  assert.ok(!second.ok && second.error.code === 'SERVICE_UNAVAILABLE' && second.error.retryAfterSeconds === 1);
  assert.match(second.error.problem?.text ?? '', /another advance .* is in progress/);
  blocked.resolve();
  assert.ok((await first).ok);
  assert.equal(clock.advancedDays, 2);
  assert.ok((await advance.advance(1, serviceActor)).ok);
});

test('does not move the clock if the new time cannot be stored, and can be repeated', async () => {
  let isFull = true;
  const storeDays = async () => {
    if (isFull) throw new Error('disk full');
  };
  const { clock, events, advance } = createAdvance({ storeDays });
  const outcome = await advance.advance(3, serviceActor);
  assert.ok(!outcome.ok && outcome.error.code === 'SERVICE_UNAVAILABLE');
  assert.match(outcome.error.problem?.text ?? '', /see the log line "time of the test clock could not be saved"/);
  assert.deepEqual([clock.advancedDays, events], [0, ['store 3 at day 0', 'error at day 0']]);
  isFull = false;
  assert.ok((await advance.advance(3, serviceActor)).ok);
});

test('close ends the advance without waiting for the task in progress, and rejects later ones', async () => {
  const { clock, events, advance, setTask } = createAdvance();
  const [started, blocked] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  setTask(() => {
    started.resolve();
    return blocked.promise;
  });
  const running = advance.advance(5, serviceActor);
  await started.promise;
  await advance.close();
  assert.equal((await running).ok, false);
  assert.deepEqual([clock.advancedDays, events], [1, ['store 5 at day 0']]);
  assert.equal((await advance.advance(1, serviceActor)).ok, false);
  assert.equal(clock.advancedDays, 1);
  blocked.resolve();
});
