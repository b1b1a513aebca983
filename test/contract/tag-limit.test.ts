import assert from 'node:assert/strict';
import { test } from 'node:test';
import { assertRefused } from '../support/answers.ts';
import { onEveryEngine } from '../support/doors.ts';
import { personalLoansFixture as fixture } from '../support/personal-loans-fixture.ts';

onEveryEngine(
  'the limit of referrer tags',
  ({ running }) => {
    test('refuses a new tag, but no known one, and leaves the sessions of the day as they were', async () => {
      const caller = running().caller(fixture, { limits: { sessionsPerDay: 4 } });
      const create = (tag: string) => caller.post('session', { referrer_tag: tag });
      for (const tag of ['tag-a', 'tag-b']) assert.equal((await create(tag)).status, 200);
      for (let times = 0; times < 3; times++) assertRefused(await create('tag-c'), 'TAG_LIMIT_EXCEEDED');
      for (const tag of ['tag-a', 'tag-b']) assert.equal((await create(tag)).status, 200);
      assertRefused(await create('tag-a'), 'RATE_LIMIT_EXCEEDED');
      assert.equal((await caller.summary({ referrer_tag: 'tag-c' })).sessions_total, 0);
    });

    test('is one for all keys of an account, and applies behind the checks of the shape', async () => {
      const [one, other] = [1, 2].map(() => running().caller(fixture, { account: 'two keys' }));
      for (const tag of ['tag-a', 'tag-b']) await one!.createSession(tag);
      assertRefused(await other!.post('session', { referrer_tag: 'tag-c' }), 'TAG_LIMIT_EXCEEDED');
      const illTyped = { referrer_tag: 'tag-c', metadata: 1 };
      assertRefused(await other!.post('session', illTyped), 'INVALID_REQUEST', 'metadata');
      await other!.createSession('tag-b');
    });
  },
  { maxReferrerTags: 2 },
);
