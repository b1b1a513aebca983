import assert from 'node:assert/strict';
import { test } from 'node:test';
import { drawBorrower } from '../../../bench/population/borrower.ts';
import { seededRandom } from '../../../bench/population/random.ts';
import { type BorrowerSession, incomeChangeRequests } from '../../../bench/scenarios/requests.ts';

const random = seededRandom(5);
const sessions: BorrowerSession[] = Array.from({ length: 7 }, (_, at) => ({
  subId: `sub_${at}`,
  key: 'svc_key',
  borrower: drawBorrower(random),
}));

test('changes the income of a session in every request to a value that the session never had', () => {
  for (const session of sessions) {
    const sent = [0, 1, 2, 40, 9_999].flatMap((round) =>
      incomeChangeRequests(sessions, 30, round)
        .map(({ body }) => JSON.parse(body!))
        .filter(({ sub_id }) => sub_id === session.subId)
        .map(({ fields }) => fields.annual_income as number),
    );
    assert.ok(sent.length >= 20);
    assert.equal(new Set([...sent, session.borrower.annual_income]).size, sent.length + 1);
    assert.ok(sent.every((income) => Number.isInteger(income) && income >= 0 && income < 10_000_000));
  }
});
