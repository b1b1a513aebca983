import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { ClickBudget } from '../../src/clicks/click-budget.ts';

describe('ClickBudget', () => {
  it('lets each session spend its clicks and no more', () => {
    const budget = new ClickBudget(3, 10);
    for (let i = 0; i < 3; i++) assert(budget.spend('one'));
    for (let i = 0; i < 3; i++) assert(!budget.spend('one'));
    assert(budget.spend('another'));
  });

  it('forgets the session that clicked longest ago when there are too many', () => {
    const budget = new ClickBudget(1, 2);
    budget.spend('one');
    budget.spend('two');
    budget.spend('three');
    assert(!budget.spend('three'));
    assert(!budget.spend('two'));
    assert(budget.spend('one'));
  });

  it('does not forget a session that goes on clicking in vain', () => {
    const budget = new ClickBudget(1, 2);
    budget.spend('busy');
    for (const other of ['a', 'b', 'c', 'd']) {
      assert(!budget.spend('busy'));
      budget.spend(other);
    }
  });
});
