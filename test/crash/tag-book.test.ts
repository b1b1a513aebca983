import assert from 'node:assert/strict';
import { test } from 'node:test';
import { SessionRecord } from './session-record.ts';
import { TagBook } from './tag-book.ts';

const created_at = '2026-06-09T10:00:00.000Z';

function book(answered: number, unanswered: number): TagBook {
  const made = new TagBook('tag', 'live');
  for (let i = 0; i < answered + unanswered; i++) made.begin();
  for (let i = 0; i < answered; i++) made.created(new SessionRecord({ sub_id: `sub_${i}`, created_at }, 'tag', 'live'));
  return made;
}

test('a tag has all acknowledged sessions, and at most the unacknowledged ones in addition', () => {
  for (const total of [2, 3, 4]) book(2, 2).settle(total);
  for (const total of [1, 5]) assert.throws(() => book(2, 2).settle(total), /2 to 4/);
});

test('the session count that a restart showed does not change at the next restart', () => {
  const settled = book(2, 2);
  settled.settle(3);
  assert.throws(() => settled.settle(2), /3 to 3/);
  assert.throws(() => settled.settle(4), /3 to 3/);
  settled.begin();
  settled.settle(4);
});
