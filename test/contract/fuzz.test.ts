import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setTimeout as pause } from 'node:timers/promises';
import fc from 'fast-check';
import { isDocumentedError } from '../support/api-caller.ts';
import { describeService } from '../support/contract-suite.ts';
import type { HttpResponse } from '../support/http-client.ts';
import { ServiceConnection } from '../support/service-connection.ts';
import { personalLoansFixture as fixture } from '../support/vertical-fixtures.ts';

const seed = 20_260_520;
const runs = 150;

const successes = [100, 200, 204, 302];
/** Statuses of the responses that an HTTP engine generates for invalid HTTP. */
const engineRefusals = [400, 408, 431, 501, 505];

/** Generates `usual` values with this weight, and values of each other kind with weight 1. */
const mostly = <Value>(weight: number, usual: fc.Arbitrary<Value>, ...others: readonly fc.Arbitrary<Value>[]) =>
  fc.oneof({ weight, arbitrary: usual }, ...others.map((arbitrary) => ({ weight: 1, arbitrary })));

const method = mostly(
  6,
  fc.constantFrom('GET', 'POST', 'PUT'),
  fc.constantFrom('HEAD', 'PATCH', 'DELETE', 'OPTIONS', 'TRACE', 'PURGE'),
);
const ofExperiment = ['', '/results', '/units', '/arm', '/close'].map((rest) => `experiments/fuzz-test${rest}`);
const operations = ['session', 'inputs', 'marketplace', 'analytics', 'tags', 'experiments', ...ofExperiment];
const segment = mostly(8, fc.constantFrom(...operations), fc.webSegment());
const path = mostly(
  8,
  segment.map((name) => `/v1/personal-loans/${name}`),
  fc.constant('/c'),
  fc.webPath().map((text) => `/${text}`),
);

const printable = fc.string({ unit: 'grapheme', maxLength: 40 });
const odd = fc.oneof(
  printable,
  fc.constantFrom('', '0', '-1', '1e9', 'null', 'true', '%', '%ff', '%00', '__proto__', '2026-02-30', '9'.repeat(400)),
);

const validParameters =
  'format=json sort=lowest_apr max_offers=3 explain=true referrer_tag=fuzz granularity=summary granularity=daily ' +
  'granularity=row limit=2 date_from=2026-05-01 date_to=2026-05-31';
const parameterNames = 'sub_id format sort max_offers explain referrer_tag sub_id_list date_from limit cursor sub v';

/** Mostly valid names and values, so that many requests pass the first checks. */
const query = (subId: string, clickUrl: string) =>
  fc
    .array(
      fc.oneof(
        fc.constantFrom(
          ...validParameters.split(' '),
          `sub_id=${subId}`,
          `sub_id_list=${subId},${subId}`,
          clickUrl.slice(clickUrl.indexOf('?') + 1),
        ),
        fc
          .tuple(fc.constantFrom(...parameterNames.split(' ')), odd)
          .map(([name, value]) => `${name}=${encodeURIComponent(value.toWellFormed())}`),
        fc.stringMatching(/^[!-~]{0,30}$/),
      ),
      { maxLength: 6 },
    )
    .map((pairs) => pairs.join('&'));

const fieldValue = fc.oneof(
  fc.constantFrom<unknown>(...Object.values(fixture.complete), null),
  fc.jsonValue({ maxDepth: 3 }),
);
const fields = mostly<unknown>(
  4,
  fc.dictionary(fc.constantFrom(...fixture.fields.map(({ name }) => name), 'x'), fieldValue),
  fc.jsonValue(),
);
const member = (...values: readonly fc.Arbitrary<unknown>[]) => fc.oneof(...values, fc.jsonValue());
const body = (subId: string) =>
  fc.oneof(
    fc
      .record(
        {
          referrer_tag: member(fc.constant('fuzz')),
          user_agent: member(fc.constant('Mozilla/5.0')),
          metadata: member(fc.constant({ a: 1 }), fc.dictionary(odd, odd)),
          sub_id: member(fc.constant(subId), fc.constant(subId)),
          fields,
          arms: member(fc.constant(['fuzz', 'fuzz-b'].map((tag) => ({ referrer_tag: tag, weight: 0.5 })))),
          control: member(fc.constant('fuzz')),
          unit: member(fc.constantFrom('session', 'visitor')),
          starts_on: member(fc.constant('2026-05-20')),
          ends_on: member(fc.constant(null)),
          dimensions: member(fc.constant(['page'])),
          outcome: member(fc.constant('broken')),
        },
        { requiredKeys: [] },
      )
      .map((value) => JSON.stringify(value)),
    fc.json(),
    fc.string({ unit: 'binary', maxLength: 200 }),
  );

const headers = (key: string) =>
  fc.record(
    {
      Authorization: mostly(12, fc.constant(`Bearer ${key}`), fc.stringMatching(/^[ -~]{0,80}$/)),
      'Content-Type': mostly(12, fc.constant('application/json'), fc.stringMatching(/^[ -~]{0,40}$/)),
      'User-Agent': fc.stringMatching(/^[ -~]{0,60}$/),
      Origin: fc.stringMatching(/^[ -~]{0,60}$/),
      'Idempotency-Key': fc.stringMatching(/^[!-~]{0,20}$/),
    },
    { requiredKeys: ['Authorization', 'Content-Type'] },
  );

function assertDocumented(asked: { method: string; path: string }, answer: HttpResponse): void {
  const { status, text } = answer;
  if (successes.includes(status)) return;
  if (status === 503) assert.ok(Number(answer.headers.get('retry-after')) >= 1);
  else assert.ok(status < 500, `${status} ${text}`);
  if (asked.method === 'HEAD') assert.equal(text, '');
  else if (asked.path === '/c' && status === 404) assert.match(text, /^<!doctype html>/i);
  else if (asked.path === '/' && status === 308) assert.equal(text, '');
  else assert.ok(isDocumentedError(answer), `${status} ${text}`);
}

describeService('random requests', ({ running }) => {
  const prepared = async () => {
    const caller = running().caller(fixture, {
      limits: { requestsPerMinute: 100_000, analyticsPerMinute: 100_000, sessionsPerDay: 100_000 },
    });
    const subId = await caller.createSessionWithFields('fuzz', fixture.complete);
    const { offers } = await caller.offers(subId);
    return { caller, subId, clickUrl: offers[0]?.click_url as string };
  };
  const assertAlive = async () => {
    assert.equal((await running().operations.send({ path: '/healthz' })).status, 200);
    assert.equal((await running().operations.send({ path: '/readyz' })).status, 200);
  };

  test('returns documented responses to random requests that combine valid and invalid parts', async () => {
    const { caller, subId, clickUrl } = await prepared();
    const request = fc.record({
      method,
      path,
      query: query(subId, clickUrl),
      headers: headers(caller.key),
      body: body(subId),
    });
    const seen = new Set<number>();
    await fc.assert(
      fc.asyncProperty(request, async (asked) => {
        const bytes = Buffer.from(asked.body);
        const answer = await caller.http.send({
          method: asked.method,
          path: `${asked.path}?${asked.query}`,
          headers: { ...asked.headers, ...(asked.method === 'POST' && { 'Content-Length': String(bytes.length) }) },
          ...(asked.method === 'POST' && { body: bytes }),
        });
        seen.add(answer.status);
        assertDocumented(asked, answer);
      }),
      { seed, numRuns: runs },
    );
    for (const status of [200, 400, 401, 404, 405]) assert.ok(seen.has(status), `no request came to ${status}`);
    await assertAlive();
  });

  test('returns a documented response or closes the connection if random bytes of a request are changed', async () => {
    const { caller, subId } = await prepared();
    const common = `Host: test\r\nAuthorization: Bearer ${caller.key}\r\n`;
    const posted = (operation: string, text: string) =>
      `POST ${caller.basePath}/${operation} HTTP/1.1\r\n${common}Content-Type: application/json\r\n` +
      `Content-Length: ${text.length}\r\n\r\n${text}`;
    const whole = fc.constantFrom(
      posted('session', '{"referrer_tag":"fuzz","metadata":{"a":"b"}}'),
      posted('inputs', JSON.stringify({ sub_id: subId, fields: fixture.complete })),
      `GET ${caller.basePath}/marketplace?sub_id=${subId}&format=json HTTP/1.1\r\n${common}\r\n`,
      `GET ${caller.basePath}/analytics?referrer_tag=fuzz HTTP/1.1\r\n${common}\r\n`,
    );
    const change = fc.record({
      at: fc.double({ min: 0, max: 1, noNaN: true }),
      length: fc.integer({ min: 0, max: 12 }),
      kind: fc.constantFrom('replace', 'cut', 'double', 'insert'),
      bytes: fc.uint8Array({ minLength: 1, maxLength: 6 }),
    });
    await fc.assert(
      fc.asyncProperty(whole, fc.array(change, { minLength: 1, maxLength: 4 }), async (text, changes) => {
        const bytes = changes.reduce(changed, Buffer.from(text));
        const connection = await ServiceConnection.open(caller.http.port);
        connection.sendLast(bytes);
        const answer = await Promise.race([
          connection.responseOrEnd(),
          pause(3_000, null, { ref: false }), // The service may wait for the rest of a request. Other tests check the timeout.
        ]);
        connection.close();
        if (answer === null || successes.includes(answer.status) || engineRefusals.includes(answer.status)) return;
        assert.ok(answer.status < 500 || answer.status === 503, `${answer.status} ${answer.body}`);
        assert.ok(isDocumentedError({ ...answer, text: answer.body.toString() }));
      }),
      { seed, numRuns: runs },
    );
    await assertAlive();
  });
});

interface Change {
  readonly at: number;
  readonly length: number;
  readonly kind: 'replace' | 'cut' | 'double' | 'insert';
  readonly bytes: Uint8Array;
}

function changed(whole: Buffer, { at, length, kind, bytes }: Change): Buffer {
  const start = Math.floor(at * whole.length);
  const middle = whole.subarray(start, start + length);
  const replacement = { replace: [bytes], cut: [], double: [middle, middle], insert: [bytes, middle] }[kind];
  return Buffer.concat([whole.subarray(0, start), ...replacement, whole.subarray(start + length)]);
}
