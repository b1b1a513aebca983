import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { ClickBudget } from '../../src/clicks/click-budget.ts';

describe('ClickBudget', () => {
  it('lets each link spend its clicks and no more', () => {
    const budget = new ClickBudget(3, 10);
    for (let i = 0; i < 3; i++) assert(budget.spend('one', 'offer'));
    for (let i = 0; i < 3; i++) assert(!budget.spend('one', 'offer'));
    assert(budget.spend('another', 'offer'));
  });

  it('keeps the clicks of a session on other offers out of it', () => {
    const budget = new ClickBudget(1, 10);
    assert(budget.spend('one', 'offer-a'));
    assert(!budget.spend('one', 'offer-a'));
    assert(budget.spend('one', 'offer-b'));
  });

  it('forgets the link clicked longest ago when there are too many', () => {
    const budget = new ClickBudget(1, 2);
    budget.spend('one', 'offer');
    budget.spend('two', 'offer');
    budget.spend('three', 'offer');
    assert(!budget.spend('three', 'offer'));
    assert(!budget.spend('two', 'offer'));
    assert(budget.spend('one', 'offer'));
  });

  it('does not forget a link that goes on being clicked in vain', () => {
    const budget = new ClickBudget(1, 2);
    budget.spend('busy', 'offer');
    for (const other of ['a', 'b', 'c', 'd']) {
      assert(!budget.spend('busy', 'offer'));
      budget.spend(other, 'offer');
    }
  });
});
