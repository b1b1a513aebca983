import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type ExpectedLimit, findLimitProblem, type LimitedLoad } from '../../../bench/limits/check-load.ts';
import type { RecordedReply } from '../../../bench/load/load-clients.ts';

const expected: ExpectedLimit = { policy: 'minute', limit: 5, windowMs: 60_000 };
/** A load at second 1,000, for a window whose oldest request was admitted at second 970. */
const retryTime = { fromMs: 1_030_000, toMs: 1_030_000 };

function createReply(status: number, remaining: number, seconds: number): RecordedReply {
  const headers = {
    'x-ratelimit-limit': '5',
    'x-ratelimit-remaining': String(remaining),
    'x-ratelimit-reset': String(1_000 + seconds),
    ratelimit: `"minute";r=${remaining};t=${seconds}`,
    'ratelimit-policy': '"minute";q=5;w=60',
  };
  return { status, headers: status === 429 ? { ...headers, 'retry-after': String(seconds) } : headers };
}

const admitted = [createReply(200, 2, 60), createReply(200, 0, 60), createReply(200, 1, 60)];
const refused = createReply(429, 0, 30);
const load: LimitedLoad = {
  startedMs: 1_000_000,
  endedMs: 1_000_500,
  available: 3,
  replies: [...admitted, refused, refused],
};

const findProblem = (replies: readonly RecordedReply[]) => findLimitProblem(expected, { ...load, replies }, retryTime);
const changeHeaders = ({ status, headers }: RecordedReply, changed: Record<string, string>) => ({
  status,
  headers: { ...headers, ...changed },
});

test('accepts replies that keep the limit, in any order', () => {
  assert.equal(findProblem(load.replies), null);
  assert.equal(findProblem(load.replies.toReversed()), null);
  assert.equal(findProblem([createReply(200, 2, 60)]), null);
});

test('reports one admitted request too many or too few', () => {
  const oneMore = [...admitted, createReply(200, 0, 60), refused];
  assert.equal(findProblem(oneMore), '4 of 5 requests were admitted instead of 3');
  assert.equal(findProblem([...admitted.slice(1), refused]), '2 of 3 requests were admitted instead of 3');
});

test('reports two admitted requests with the same number of remaining requests', () => {
  const problem = findProblem([admitted[0]!, admitted[1]!, admitted[1]!, refused]);
  assert.equal(problem, 'X-RateLimit-Remaining of admitted requests does not count from 2 to 0');
});

test('reports limit headers that contradict each other, the limit or the time', () => {
  const { 'retry-after': _, ...withoutRetryAfter } = refused.headers;
  const wrong: readonly (readonly [RecordedReply, RegExp])[] = [
    [changeHeaders(refused, { 'x-ratelimit-limit': '6' }), /status 429 has x-ratelimit-limit: 6 instead of 5/],
    [changeHeaders(refused, { 'x-ratelimit-remaining': '1' }), /x-ratelimit-remaining: 1 instead of 0/],
    [changeHeaders(refused, { ratelimit: '"day";r=0;t=30' }), /ratelimit: "day";r=0;t=30 instead of "minute";r=0;t=30/],
    [changeHeaders(refused, { 'ratelimit-policy': '"minute";q=6;w=60' }), /no "minute";q=5;w=60 in ratelimit-policy/],
    [changeHeaders(refused, { 'retry-after': '29' }), /retry-after: 29 instead of 30/],
    [{ status: 429, headers: withoutRetryAfter }, /retry-after: absent instead of 30/],
    [changeHeaders(admitted[0]!, { 'retry-after': '60' }), /status 200 has retry-after: 60 instead of absent/],
    [changeHeaders(refused, { 'x-ratelimit-reset': '1040' }), /different times in x-ratelimit-reset: 1040/],
    [createReply(429, 0, 28), /x-ratelimit-reset: 1028, which is not when the next request can succeed/],
    [createReply(429, 0, 32), /x-ratelimit-reset: 1032/],
  ];
  for (const [reply, message] of wrong) {
    const others = reply.status === 200 ? [...admitted.slice(1), refused] : [...admitted, refused];
    assert.match(findProblem([reply, ...others])!, message);
  }
});
