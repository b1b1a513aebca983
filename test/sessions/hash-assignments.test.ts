import assert from 'node:assert/strict';
import { test } from 'node:test';
import { daysSinceEpoch, msPerDay } from '../../src/domain/calendar.ts';
import type { ApiKeyMode } from '../../src/domain/mode.ts';
import type { Tenant } from '../../src/domain/tenant.ts';
import type { ExperimentDefinition } from '../../src/experiments/experiment.ts';
import { assignArm } from '../../src/index.ts';
import { HashAssignments } from '../../src/sessions/hash-assignments.ts';
import { mortgage } from '../../src/verticals/mortgage/mortgage.ts';
import { liveTenant, testTenant } from '../support/identities.ts';
import {
  experimentClosedRecord,
  experimentDefinedRecord,
  experimentDeletedRecord,
  subIdBytes,
} from '../support/ledger-records.ts';

const noon = Date.UTC(2026, 4, 20, 12);
const today = daysSinceEpoch(noon);
/** Name of the experiment in docs/contract.md#assignment-by-hash, in which `u2` is in the first arm and `u0` in the second. */
const name = 'hero-test';

const armsOf = (...tags: readonly string[]) =>
  tags.map((referrerTag) => ({ referrerTag, weight: 1 / tags.length, label: null }));

/** The experiments, with methods that append records. */
class Bench {
  readonly assignments = new HashAssignments();

  define(change: Partial<ExperimentDefinition> = {}, { as = name, of = liveTenant, at = noon } = {}): this {
    const control = change.arms?.[0]?.referrerTag ?? 'tag-one';
    const definition = { unit: 'visitor', assignment: 'hash', startsOn: today, control, ...change } as const;
    this.assignments.applyLedgerRecord(experimentDefinedRecord(subOf(of, at), as, definition));
    return this;
  }

  close(closedName = name): this {
    this.assignments.applyLedgerRecord(experimentClosedRecord(subOf(liveTenant, noon), closedName));
    return this;
  }

  delete(): this {
    this.assignments.applyLedgerRecord(experimentDeletedRecord(subOf(liveTenant, noon), name));
    return this;
  }

  /** Returns the tags with which a session of `u2` is misassigned. */
  misassigned({ of = liveTenant, at = noon, tags = ['tag-one', 'tag-two', 'tag-six'] } = {}): string[] {
    return tags.filter((tag) => this.assignments.isMisassigned(of, tag, 'u2', at));
  }
}

function subOf({ account, vertical, mode }: Tenant, createdMs: number): Buffer {
  return subIdBytes({ createdMs, serial: 1, account, vertical: vertical.number, mode });
}

test('finds sessions with a tag that is not of the arm that the package assigns', () => {
  const arms = [0.2, 0.3, 0.5].map((weight, index) => ({ referrerTag: `arm-${index}`, weight, label: null }));
  const { assignments } = new Bench().define({ arms });
  for (let number = 0; number < 200; number++) {
    const unitId = `visitor-${number}`;
    const assigned = assignArm(name, unitId, arms);
    for (const { referrerTag } of arms) {
      const isMisassigned = assignments.isMisassigned(liveTenant, referrerTag, unitId, noon);
      assert.equal(isMisassigned, referrerTag !== assigned.referrerTag, `${unitId} ${referrerTag}`);
    }
    assert.equal(assignments.isMisassigned(liveTenant, 'arm-3', unitId, noon), false);
  }
});

test('checks sessions from the first to the last day, without a last day forever', () => {
  const { startsOn, endsOn } = { startsOn: today + 1, endsOn: today + 14 };
  const planned = new Bench().define({ startsOn, endsOn });
  const endless = new Bench().define({ startsOn });
  for (const [day, isInPlan, hasStarted] of [
    [today, false, false],
    [startsOn, true, true],
    [endsOn, true, true],
    [endsOn + 1, false, true],
    [endsOn + 1_000, false, true],
  ] as const) {
    for (const at of [day * msPerDay, (day + 1) * msPerDay - 1]) {
      assert.deepEqual(planned.misassigned({ at }), isInPlan ? ['tag-two'] : [], `day ${day - today}`);
      assert.deepEqual(endless.misassigned({ at }), hasStarted ? ['tag-two'] : [], `day ${day - today}`);
    }
  }
});

test('checks no sessions of other tenants', () => {
  const others = [{ ...liveTenant, account: 43 }, { ...liveTenant, vertical: mortgage }, testTenant];
  const bench = new Bench().define();
  for (const of of others) assert.deepEqual(bench.misassigned({ of }), []);
  for (const of of others) {
    bench.define({ arms: armsOf('tag-two', 'tag-one') }, { of });
    assert.deepEqual(bench.misassigned({ of }), ['tag-one']);
  }
  assert.deepEqual(bench.misassigned(), ['tag-two']);
});

/** Changes of an experiment with the tags `tag-one` and `tag-two`, and the tags with which a session of `u2` is misassigned afterwards. */
const changes: Readonly<Record<string, readonly [change: (bench: Bench) => unknown, misassigned: readonly string[]]>> =
  {
    'a closing': [(bench) => bench.close(), []],
    'a closing of another experiment': [(bench) => bench.close('other-test'), ['tag-two']],
    'a deletion': [(bench) => bench.delete(), ['tag-two']],
    'a deletion and a closing': [(bench) => bench.delete().close(), []],
    'own assignment': [(bench) => bench.define({ assignment: 'own' }), []],
    'own assignment, and again by hash': [(bench) => bench.define({ assignment: 'own' }).define(), ['tag-two']],
    'other tags': [(bench) => bench.define({ arms: armsOf('tag-one', 'tag-six') }), ['tag-six']],
    'another order of the arms': [(bench) => bench.define({ arms: armsOf('tag-two', 'tag-one') }), ['tag-one']],
    'a later first day': [(bench) => bench.define({ startsOn: today + 1 }), []],
    'another experiment that is over': [
      (bench) => bench.define({ arms: armsOf('tag-two', 'tag-one'), endsOn: today - 1 }, { as: 'other-test' }),
      ['tag-two'],
    ],
    'a definition that a later release wrote': [
      (bench) => bench.define({ assignment: 'coin' as ExperimentDefinition['assignment'] }),
      [],
    ],
  };

for (const [title, [change, misassigned]] of Object.entries(changes)) {
  test(`checks sessions by the current definitions after ${title}`, () => {
    const bench = new Bench().define();
    change(bench);
    assert.deepEqual(bench.misassigned(), misassigned);
  });
}

test('checks sessions of a tag by its running experiment, after another one has ended', () => {
  const bench = new Bench().define({ endsOn: today });
  const tomorrow = noon + msPerDay;
  bench.define({ arms: armsOf('tag-two', 'tag-six') }, { as: 'hero-test-2', at: tomorrow });
  const { referrerTag } = assignArm('hero-test-2', 'u2', armsOf('tag-two', 'tag-six'));
  const other = referrerTag === 'tag-two' ? 'tag-six' : 'tag-two';
  assert.deepEqual(bench.misassigned({ at: tomorrow }), [other]);
  // The closing of the ended experiment does not change the running one.
  bench.close();
  assert.deepEqual(bench.misassigned({ at: tomorrow }), [other]);
});

test('restores experiments, but not those that a ledger record has changed', () => {
  const members = { unit: 'visitor', assignment: 'hash' } as const;
  const [, , , , , text] = experimentDefinedRecord(subOf(liveTenant, noon), name, members);
  const stored = { name, definition: JSON.parse(text) };
  const restore = ({ assignments }: Bench, mode: ApiKeyMode = 'live') =>
    assignments.restoreExperiment(liveTenant.account, liveTenant.vertical.number, mode, stored);
  const restored = new Bench();
  restore(restored);
  assert.deepEqual(restored.misassigned(), ['tag-two']);
  assert.deepEqual(restored.misassigned({ of: testTenant }), []);
  restore(restored, 'test');
  assert.deepEqual(restored.misassigned({ of: testTenant }), ['tag-two']);
  restored.close();
  assert.deepEqual(restored.misassigned(), []);

  const closed = new Bench().close();
  restore(closed);
  assert.deepEqual(closed.misassigned(), []);
  const changed = new Bench().define({ arms: armsOf('tag-two', 'tag-one') });
  restore(changed);
  assert.deepEqual(changed.misassigned(), ['tag-one']);
  // A later experiment has a tag of one that had not ended when it was read.
  const followed = new Bench().define({ arms: armsOf('tag-two', 'tag-six') }, { as: 'other-test' });
  restore(followed);
  const { referrerTag } = assignArm('other-test', 'u2', armsOf('tag-two', 'tag-six'));
  assert.deepEqual(followed.misassigned({ tags: ['tag-two'] }), referrerTag === 'tag-two' ? [] : ['tag-two']);
});
