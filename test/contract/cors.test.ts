import assert from 'node:assert/strict';
import { test } from 'node:test';
import { describePersonalLoans } from '../support/contract-suite.ts';

const page = 'https://landing.example';

describePersonalLoans(
  'CORS with a configured origin',
  (door) => {
    test('allows only pages of the configured origin to read responses, errors and rate limit headers', async () => {
      const { market } = door;
      const caller = door.caller();
      const answers = [
        await caller.get('analytics', { referrer_tag: 'cors' }, { Origin: page }),
        await caller.get('analytics', '', { Origin: page }),
        await caller.get('analytics', '', { Origin: page, Authorization: 'Bearer none' }),
        await caller.post('session', '{', { Origin: page }),
        await market.http.send({ path: `${caller.basePath}/nothing`, headers: { Origin: page } }),
        await caller.post('session', 'x'.repeat(70_000), { Origin: page }),
        await door.caller({ scope: 'analytics' }).post('session', {}, { Origin: page }),
      ];
      assert.deepEqual(
        answers.map(({ status }) => status),
        [200, 400, 401, 400, 404, 413, 403],
      );
      for (const answer of answers) {
        assert.equal(answer.headers.get('access-control-allow-origin'), page);
        assert.match(answer.headers.get('vary') ?? '', /\bOrigin\b/i);
        assert.match(answer.headers.get('access-control-expose-headers') ?? '', /x-ratelimit-reset/i);
        assert.match(answer.headers.get('access-control-expose-headers') ?? '', /retry-after/i);
        assert.equal(answer.headers.has('access-control-allow-credentials'), false);
      }
      const others = [
        'https://evil.example',
        'http://landing.example',
        `${page}.evil.example`,
        `${page}:8443`,
        `${page}/`,
      ];
      for (const origin of [...others, page.toUpperCase(), 'null', '*', '']) {
        for (const method of ['GET', 'OPTIONS']) {
          const { headers } = await market.http.send({
            method,
            path: `${caller.basePath}/tags`,
            headers: { Origin: origin },
          });
          assert.deepEqual(
            [...headers.keys()].filter((name) => name.startsWith('access-control-')),
            [],
            origin,
          );
          assert.equal(headers.get('vary'), 'Origin');
        }
      }
    });

    test('responds to preflight requests without an API key, and does not count them towards a rate limit', async () => {
      const { market } = door;
      const caller = door.caller({ limits: { requestsPerMinute: 1 } });
      for (const [operation, method] of [
        ['session', 'POST'],
        ['marketplace', 'GET'],
      ] as const) {
        const preflight = await market.http.send({
          method: 'OPTIONS',
          path: `${caller.basePath}/${operation}`,
          headers: {
            Origin: page,
            'Access-Control-Request-Method': method,
            'Access-Control-Request-Headers': 'authorization,content-type',
          },
        });
        assert.equal(preflight.status, 204);
        assert.equal(preflight.headers.get('access-control-allow-origin'), page);
        assert.ok(preflight.headers.get('access-control-allow-methods')?.split(', ').includes(method));
        const names = preflight.headers.get('access-control-allow-headers')?.toLowerCase().split(', ');
        assert.ok(names?.includes('authorization') && names.includes('content-type'));
      }
      assert.equal((await caller.get('analytics', { referrer_tag: 'cors' })).status, 200);
    });
  },
  { corsOrigins: [page] },
);
