import assert from 'node:assert/strict';
import { test } from 'node:test';
import { CrashCheck } from './crash-check.ts';
import type { DurableStep } from './forgetful-log-files.ts';
import { durableSteps, forgetfulLogFiles } from './forgetful-log-files.ts';
import type { Cut, LifeOptions } from './log-life.ts';
import { LogLife, nothingKnown } from './log-life.ts';
import { SimulatedDisk } from './simulated-disk.ts';

type Story = (life: LogLife) => Promise<void>;

/** Groups of several sizes, notes, records that come while others are stored, and changes of segment. */
const quiet: Story = async (life) => {
  for (const count of [1, 3, 1, 6]) {
    life.append(count);
    await life.settle();
  }
  life.note();
  life.append(2);
  await new Promise(setImmediate);
  life.append(1);
  life.note();
  await life.settle();
};

/** The log goes on in a new segment. */
const failing = (step: 'write' | 'datasync' | 'create' | 'rename' | 'syncFolder' | 'truncate'): Story => {
  return async (life) => {
    life.append(2);
    await life.settle();
    // A failed write sends the log to a new segment, which takes the other steps.
    if (step !== 'datasync' && step !== 'truncate') life.files.fail('write', 1);
    life.files.fail(step, 1);
    for (const count of [2, 3]) {
      life.append(count);
      await life.settle();
      await life.heal();
    }
    assert.equal(life.files.failuresLeft(step), 0);
  };
};

/** The log gives up for a while, and is ended while it does. */
const givingUp = (step: 'write' | 'datasync' | 'syncFolder'): Story => {
  return async (life) => {
    life.append(1);
    await life.settle();
    for (const times of [3, 1_000]) {
      life.files.fail('write', 1);
      life.files.fail(step, times);
      life.append(2);
      life.note();
      await life.settle();
      if (times > 3) break;
      await life.heal();
    }
  };
};

/** A life, and another on what it leaves, at all of whose moments a crash may come. */
async function recorded(story: Story, options: LifeOptions = {}): Promise<Cut[]> {
  const first = await LogLife.open(new SimulatedDisk(), nothingKnown, options);
  await story(first);
  await first.close();
  const second = await LogLife.open(first.disk, first.known, options);
  second.append(1);
  await second.settle();
  return [...first.cuts, ...second.cuts];
}

const stories: Readonly<Record<string, Story>> = {
  'in a quiet life': quiet,
  'around a failed write': failing('write'),
  'around a failed sync': failing('datasync'),
  'around a failed creation of a segment': failing('create'),
  'around a failed rename of a segment': failing('rename'),
  'around a failed sync of the folder': failing('syncFolder'),
  'around a failed cut of the reserved zeros': failing('truncate'),
  'while the disk is full': givingUp('write'),
  'while no file can be synced': givingUp('datasync'),
  'while the folder cannot be synced': givingUp('syncFolder'),
};

for (const [when, story] of Object.entries(stories)) {
  test(`a crash at any moment ${when} loses no acknowledged record and adds no record`, async () => {
    const check = new CrashCheck();
    await check.everyCut(await recorded(story));
    assert.ok(check.recoveries > 1_000);
  });
}

test('without a sync per group, a killed process loses no record, and the log can be opened after a power cut', async () => {
  const options = { durability: 'write' } as const;
  await new CrashCheck(options).everyCut(await recorded(quiet, options));
});

/** The life in which it shows that a step is left out, and what it shows as. */
const telling: Readonly<Record<DurableStep, { story: Story; options?: LifeOptions; found: RegExp }>> = {
  group: { story: quiet, found: /acknowledged records/ },
  header: { story: quiet, found: /shorter than its header/ },
  folder: { story: quiet, found: /acknowledged records/ },
  recovery: { story: quiet, found: /acknowledged records/ },
  repeat: { story: failing('datasync'), found: /acknowledged records/ },
  // Groups that were synced one by one need no sync of the whole segment.
  end: { story: quiet, options: { durability: 'write' }, found: /missing or incomplete/ },
};

for (const step of durableSteps) {
  test(`the crash test fails if the log omits its ${step} step`, async () => {
    const { story, options, found } = telling[step];
    const forgetful: LifeOptions = { ...options, between: (files) => forgetfulLogFiles(files, step) };
    const cuts = await recorded(story, forgetful);
    await assert.rejects(new CrashCheck(forgetful).everyCut(cuts), { message: found });
  });
}
