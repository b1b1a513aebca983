import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import type { PartnerApiResult } from '../../src/index.ts';
import { apiOperations } from '../../src/operations/api-operations.ts';
import { type ApiCaller, assertError, assertOk } from '../support/api-caller.ts';
import type { HttpResponse } from '../support/http-client.ts';
import { RunningMarketplace } from '../support/running-marketplace.ts';
import { allFixtures } from '../support/vertical-fixtures.ts';

/** Scope that each operation needs, as docs/contract.md#scopes lists it. Add a new operation here and there. */
const scopeByOperation: Readonly<Record<string, 'full' | 'analytics'>> = {
  createSession: 'full',
  submitInputs: 'full',
  getMarketplace: 'full',
  queryAnalytics: 'analytics',
  listTags: 'analytics',
  listExperiments: 'analytics',
  getExperiment: 'analytics',
  getExperimentArm: 'analytics',
  getExperimentResults: 'analytics',
  listExperimentUnits: 'analytics',
  planExperiment: 'analytics',
  defineExperiment: 'full',
  deleteExperiment: 'full',
  closeExperiment: 'full',
};

/** Queries of figures that return a result for the tag `scope`. */
const figureQueries: readonly (readonly ['analytics' | 'tags', string])[] = [
  ['analytics', 'referrer_tag=scope'],
  ['analytics', 'referrer_tag=scope&granularity=daily'],
  ['analytics', 'referrer_tag=scope&granularity=row'],
  ['tags', ''],
];

/** One request for each operation and method. */
const requests = apiOperations.flatMap(({ id, method, path, body }) =>
  (method === 'GET' ? ['GET', 'HEAD'] : [method]).map((sent) => ({
    id,
    send: ({ http, basePath, key }: ApiCaller): Promise<HttpResponse> =>
      http.send({
        method: sent,
        path: basePath + path.replaceAll(/\{\w+\}/g, 'scope'),
        headers: {
          Authorization: `Bearer ${key}`,
          ...(body !== undefined && { 'Content-Type': 'application/json', 'Content-Length': '2' }),
        },
        ...(body !== undefined && { body: '{}' }),
      }),
  })),
);

test('every operation has a documented scope', () => {
  assert.deepEqual(Object.fromEntries(apiOperations.map(({ id, scope = 'full' }) => [id, scope])), scopeByOperation);
});

for (const engine of ['uws', 'node'] as const) {
  describe(`scopes of API keys on ${engine}`, () => {
    let market: RunningMarketplace;
    before(async () => {
      market = await RunningMarketplace.start(engine);
    });
    after(() => market.close());

    for (const fixture of allFixtures) {
      for (const mode of ['live', 'test'] as const) {
        test(`an analytics key for ${fixture.vertical.segment} (${mode}) can only read figures`, async () => {
          const account = `scopes ${fixture.vertical.segment}`;
          const full = market.caller(fixture, { account, mode });
          const reader = market.caller(fixture, { account, mode, scope: 'analytics' });
          const subId = await full.createSessionWithFields('scope', fixture.complete);
          for (const { id, send } of requests) {
            const allowed = await send(full);
            assert.ok(![401, 403].includes(allowed.status), id);
            const answer = await send(reader);
            if (scopeByOperation[id] === 'analytics') assert.equal(answer.status, allowed.status, id);
            else assert.equal(answer.status, 403, id);
          }
          for (const format of ['json', 'iframe', 'js']) {
            assertError(await reader.get('marketplace', { sub_id: subId, format }), 'INSUFFICIENT_SCOPE');
          }
          for (const fields of [fixture.complete, { [fixture.amount]: null }]) {
            assertError(await reader.post('inputs', { sub_id: subId, fields }), 'INSUFFICIENT_SCOPE');
          }
          const created = await reader.post('session', { referrer_tag: 'scope' });
          assert.match(assertError(created, 'INSUFFICIENT_SCOPE').message, /only read figures.* scope full/);
          assert.equal(created.headers.get('x-ratelimit-limit'), '500');
          for (const query of figureQueries) {
            const figures = assertOk<object>(await reader.get(...query));
            assert.deepEqual(figures, assertOk<object>(await full.get(...query)));
          }
          assert.equal((await full.summary({ referrer_tag: 'scope' })).sessions_total, 1);
        });
      }
    }

    test('every method of the embedded API needs the scope of its operation', async () => {
      for (const fixture of allFixtures) {
        const { key } = market.issueKey(fixture, { scope: 'analytics' });
        const partner = market.marketplace.partnerApi(key, fixture.vertical.segment);
        const methods = partner as unknown as Record<string, (argument: object) => Promise<PartnerApiResult<unknown>>>;
        for (const id of [...Object.keys(scopeByOperation), 'getWidget']) {
          const result = await methods[id]!({});
          const isForbidden = !result.ok && result.error.status === 403 && result.error.error === 'INSUFFICIENT_SCOPE';
          assert.equal(isForbidden, scopeByOperation[id] !== 'analytics', id);
        }
      }
    });
  });
}
