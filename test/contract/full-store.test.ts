import assert from 'node:assert/strict';
import { test } from 'node:test';
import { assertRefused } from '../support/answers.ts';
import { onEveryEngine } from '../support/doors.ts';
import { personalLoansFixture as fixture } from '../support/personal-loans-fixture.ts';

const sessionsHeld = 4;

onEveryEngine(
  'a full session store',
  ({ running }) => {
    test('refuses new sessions until old ones expire, keeps those it has, and charges nothing for a refusal', async () => {
      const market = running();
      const caller = market.caller(fixture, { limits: { sessionsPerDay: sessionsHeld + 1 } });
      const held: string[] = [];
      for (let count = 0; count < sessionsHeld; count++) {
        held.push(await caller.sessionWith('full', fixture.complete));
      }
      for (let times = 0; times < 5; times++) {
        const refusal = await caller.post('session', { referrer_tag: 'full' });
        assertRefused(refusal, 'SERVICE_UNAVAILABLE');
        assert.ok(Number(refusal.headers.get('retry-after')) >= 1);
      }
      for (const subId of held) assert.ok((await caller.offers(subId)).offers.length > 0);
      assert.equal((await caller.summary({ referrer_tag: 'full' })).sessions_total, sessionsHeld);

      market.clock.advance(4 * 60 * 60 * 1000 + 1_000);
      await caller.createSession('full');
      assertRefused(await caller.post('session', { referrer_tag: 'full' }), 'RATE_LIMIT_EXCEEDED');
      assert.equal((await caller.summary({ referrer_tag: 'full' })).sessions_total, sessionsHeld + 1);
    });
  },
  { maxSessions: sessionsHeld },
);
