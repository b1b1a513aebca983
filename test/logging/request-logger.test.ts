import assert from 'node:assert/strict';
import { once } from 'node:events';
import { PassThrough } from 'node:stream';
import { test } from 'node:test';
import { type LevelWithSilent, pino } from 'pino';
import { bounds } from '../../src/bounds.ts';
import { errorTable } from '../../src/domain/errors.ts';
import type { LoggedRequest } from '../../src/http/engines/listener.ts';
import { errorSerializers } from '../../src/logging/describe-error.ts';
import { RequestLogger, TokenBucket } from '../../src/logging/request-logger.ts';
import { ManualClock } from '../support/manual-clock.ts';

const request: LoggedRequest = {
  requestId: 'abc-1',
  method: 'POST',
  routeIndex: 1,
  caller: { account: 3, keyNumber: 7 },
  elapsedMs: 12.4,
};

interface Line {
  readonly level: number;
  readonly requestId?: string;
  readonly route?: string;
  readonly method?: string;
  readonly code?: string;
  readonly msg?: string;
  readonly err?: object;
  readonly problem?: string;
  readonly dropped?: Readonly<Record<string, number>>;
}

function requestLog(level: LevelWithSilent = 'info') {
  const stream = new PassThrough();
  const clock = new ManualClock();
  const log = new RequestLogger({
    logger: pino({ level, base: null, timestamp: false, serializers: errorSerializers }, stream),
    clock,
    routeNames: ['other', 'inputs'],
    callerNames: ({ account, keyNumber }) => ({ key: `key_${keyNumber}`, account: `account ${account}` }),
  });
  const lines = (): Line[] =>
    String(stream.read() ?? '')
      .split('\n')
      .filter((line) => line !== '')
      .map((line) => JSON.parse(line) as Line);
  return { log, clock, lines, stream };
}

const reply = (status: number, code?: 'INVALID_REQUEST' | 'SERVICE_UNAVAILABLE' | 'UNAUTHORIZED', param?: string) => ({
  status,
  headers: '',
  body: '',
  ...(code !== undefined && { error: { code, ...(param !== undefined && { param }) } }),
});

const requestMembers = {
  requestId: 'abc-1',
  route: 'inputs',
  method: 'POST',
  keyId: 'key_7',
  account: 'account 3',
  durationMs: 12,
};

test('logs the request, the caller and the reason of a rejection', () => {
  const { log, lines } = requestLog();
  log.logErrorReply(request, reply(400, 'INVALID_REQUEST', 'fields'));
  const error = { status: 400, code: 'INVALID_REQUEST', param: 'fields', msg: 'request rejected: invalid request' };
  assert.deepEqual(lines(), [{ ...requestMembers, level: 30, ...error }]);
});

test('at level debug, logs successful requests and all rejected requests', () => {
  const { log, lines } = requestLog('debug');
  log.logSuccess?.(request, reply(200));
  assert.deepEqual(lines(), [{ ...requestMembers, level: 20, status: 200, msg: 'request answered' }]);
  for (let i = 0; i < 100; i++) log.logErrorReply(request, reply(401, 'UNAUTHORIZED'));
  assert.equal(lines().length, 100);
  assert.equal(requestLog('info').log.logSuccess, undefined);
});

test('each API error code has a distinct log message', () => {
  const phrases = Object.values(errorTable).map(({ phrase }) => phrase);
  assert.equal(new Set(phrases).size, phrases.length);
});

test('logs an unknown HTTP method as "other"', () => {
  const { log, lines } = requestLog('trace');
  log.logErrorReply({ ...request, routeIndex: 0, method: 'JANE' }, reply(404));
  const [line] = lines();
  assert.deepEqual([line?.route, line?.method], ['other', 'other']);
  assert.doesNotMatch(JSON.stringify(line), /jane/i);
});

test('logs server errors at level warn or error, and client errors at level info', () => {
  const { log, lines } = requestLog('debug');
  log.logErrorReply(request, reply(401, 'UNAUTHORIZED'));
  log.logErrorReply(request, reply(503, 'SERVICE_UNAVAILABLE'));
  log.logErrorReply(request, reply(404));
  log.logErrorReply(request, reply(503));
  log.logError(new Error('no'), request);
  assert.deepEqual(
    lines().map(({ level, msg }) => [level, msg]),
    [
      [30, 'request rejected: invalid credentials'],
      [40, 'request rejected: service unavailable'],
      [30, 'request rejected: status 404'],
      [20, 'request rejected: status 503'],
      [50, 'request failed'],
    ],
  );
});

test('logs one line with a stack trace for a request that fails with an exception', () => {
  const { log, lines } = requestLog();
  log.logError(new Error('a step failed'), request);
  log.logErrorReply(request, { status: 500, headers: '', body: '', error: { code: 'INTERNAL_ERROR' } });
  const [line, ...others] = lines();
  assert.deepEqual(others, []);
  assert.equal(line?.requestId, 'abc-1');
  assert.match(JSON.stringify(line?.err), /"message":"a step failed","stack":\["at .*request-logger\.test\.ts/);
});

test('limits the log lines of each kind of rejection and reports the number of dropped lines', async () => {
  const { log, clock, lines, stream } = requestLog();
  for (let i = 0; i < 100; i++) log.logErrorReply(request, reply(401, 'UNAUTHORIZED'));
  log.logErrorReply(request, reply(400, 'INVALID_REQUEST'));
  assert.deepEqual(
    lines().map(({ code }) => code),
    [...Array.from({ length: bounds.refusalLogLinesBurst }, () => 'UNAUTHORIZED'), 'INVALID_REQUEST'],
  );
  await once(stream, 'readable');
  const dropped = { UNAUTHORIZED: 100 - bounds.refusalLogLinesBurst };
  assert.deepEqual(lines(), [{ level: 40, dropped, msg: 'log lines dropped: too many rejected requests' }]);
  // No request is rejected in the next second.
  await once(stream, 'readable');
  assert.deepEqual(
    lines().map(({ msg }) => msg),
    ['log lines no longer dropped'],
  );
  clock.advance(1_000);
  for (let i = 0; i < 100; i++) log.logErrorReply(request, reply(401, 'UNAUTHORIZED'));
  assert.equal(lines().length, bounds.refusalLogLinesPerSecond);
  log.close();
  assert.deepEqual(lines()[0]?.dropped, { UNAUTHORIZED: 100 - bounds.refusalLogLinesPerSecond });
});

test('logs the problem and its cause, with a limit of its own', () => {
  const { log, lines } = requestLog();
  const refused = (text: string) =>
    log.logErrorReply(request, {
      ...reply(503),
      error: { code: 'SERVICE_UNAVAILABLE', problem: { text, cause: new Error('a step failed') } },
    });
  for (let i = 0; i < 100; i++) refused('key file is locked');
  refused('disk is full');
  const logged = lines();
  assert.equal(logged.length, bounds.refusalLogLinesBurst + 1);
  assert.equal(logged.at(-1)?.problem, 'disk is full');
  assert.match(JSON.stringify(logged.at(-1)?.err), /"message":"a step failed"/);
});

test('logs an incomplete answer at most once a minute for each problem', () => {
  const { log, clock, lines } = requestLog();
  const logTwice = () => {
    for (let i = 0; i < 2; i++)
      for (const text of ['no figures', 'no disk']) log.logIncompleteAnswer(request, { text });
    return lines().map(({ problem }) => problem);
  };
  log.logIncompleteAnswer(request, { text: 'no figures' });
  const line = { ...requestMembers, level: 40, status: 200, problem: 'no figures', msg: 'answer incomplete' };
  assert.deepEqual(lines(), [line]);
  assert.deepEqual(logTwice(), ['no disk']);
  clock.advance(bounds.incompleteAnswerLogIntervalMs - 1);
  assert.deepEqual(logTwice(), []);
  clock.advance(1);
  assert.deepEqual(logTwice(), ['no figures', 'no disk']);
});

test('log lines of a disabled level do not count towards the log rate limit', () => {
  const { log, lines } = requestLog('error');
  for (let i = 0; i < 100; i++) log.logErrorReply(request, reply(401, 'UNAUTHORIZED'));
  log.close();
  assert.deepEqual(lines(), []);
});

test('a token bucket allows a burst and then a constant rate', () => {
  const bucket = new TokenBucket(5, 20, 1_000);
  const take = (count: number, nowMs: number) =>
    Array.from({ length: count }, () => bucket.tryTakeLogToken(nowMs)).filter(Boolean).length;
  assert.equal(take(30, 1_000), 20);
  assert.equal(take(30, 1_199), 0);
  assert.equal(take(30, 1_200), 1);
  assert.equal(take(30, 2_200), 5);
  assert.equal(take(30, 1_000_000), 20);
});
