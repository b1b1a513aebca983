import assert from 'node:assert/strict';
import { test } from 'node:test';
import { assertError } from '../support/api-caller.ts';
import { ShardGroup } from '../support/shard-group.ts';
import { personalLoansFixture } from '../support/vertical-fixtures.ts';

test('answers the requests of a session, its clicks and its analytics on every shard', async (t) => {
  const group = await ShardGroup.start(t, 2);
  const key = group.issueKey(1);
  const [elsewhere, owner] = [group.caller(key, 0), group.caller(key, 1)];
  const subId = await elsewhere.createSessionWithFields('tag-a', personalLoansFixture.complete);
  const offers = await elsewhere.offers(subId);
  assert.deepEqual(await owner.offers(subId), offers);
  for (const { http } of [group.shard(0), group.shard(1)]) {
    const { pathname, search } = new URL(offers.offers[0]!.click_url);
    const click = await http.send({ path: pathname + search });
    assert.equal(click.status, 302);
  }
  const summary = await elsewhere.summary({ referrer_tag: 'tag-a' });
  assert.deepEqual(await owner.summary({ referrer_tag: 'tag-a' }), summary);
  assert.equal(summary.sessions_total, 1);
  assert.equal(group.shard(0).service.operationDeps.sessions.size, 0);
  assertError(await group.caller(key.replace(/.{4}$/, 'ffff'), 0).get('analytics', {}), 'UNAUTHORIZED');
});
