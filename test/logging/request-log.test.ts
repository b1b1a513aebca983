import assert from 'node:assert/strict';
import { once } from 'node:events';
import { PassThrough } from 'node:stream';
import { test } from 'node:test';
import { type LevelWithSilent, pino } from 'pino';
import { bounds } from '../../src/bounds.ts';
import { errorTable } from '../../src/domain/errors.ts';
import type { LoggedRequest } from '../../src/http/engines/listener.ts';
import { RequestLogger } from '../../src/logging/request-logger.ts';
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
  readonly fault?: object;
  readonly leftOut?: Readonly<Record<string, number>>;
}

function requestLog(level: LevelWithSilent = 'info') {
  const stream = new PassThrough();
  const clock = new ManualClock();
  const log = new RequestLogger({
    logger: pino({ level, base: null, timestamp: false }, stream),
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
  ...(code !== undefined && { refusal: { code, ...(param !== undefined && { param }) } }),
});

test('a line names the request, who asked, and what it was refused for', () => {
  const { log, lines } = requestLog();
  log.logRefusal(request, reply(400, 'INVALID_REQUEST', 'fields'));
  assert.deepEqual(lines(), [
    {
      level: 30,
      requestId: 'abc-1',
      route: 'inputs',
      method: 'POST',
      status: 400,
      code: 'INVALID_REQUEST',
      param: 'fields',
      key: 'key_7',
      account: 'account 3',
      ms: 12,
      msg: 'request refused: invalid request',
    },
  ]);
});

test('at debug a request that succeeds has a line too, and every refusal has one', () => {
  const { log, lines } = requestLog('debug');
  log.logSuccess?.(request, reply(200));
  assert.deepEqual(lines(), [
    {
      level: 20,
      requestId: 'abc-1',
      route: 'inputs',
      method: 'POST',
      status: 200,
      key: 'key_7',
      account: 'account 3',
      ms: 12,
      msg: 'request answered',
    },
  ]);
  for (let at = 0; at < 100; at++) log.logRefusal(request, reply(401, 'UNAUTHORIZED'));
  assert.equal(lines().length, 100);
  assert.equal(requestLog('info').log.logSuccess, undefined);
});

test('every error has a message of its own, by which its lines can be found', () => {
  const phrases = Object.values(errorTable).map(({ phrase }) => phrase);
  assert.equal(new Set(phrases).size, phrases.length);
});

test('a method as sent is in no line', () => {
  const { log, lines } = requestLog('trace');
  log.logRefusal({ ...request, routeIndex: 0, method: 'JANE' }, reply(404));
  const written = lines();
  assert.deepEqual(
    written.map(({ route, method }) => [route, method]),
    [['other', 'other']],
  );
  assert.ok(!/jane/i.test(JSON.stringify(written)));
});

test('what is ours is a warning or an error, the rest is information', () => {
  const { log, lines } = requestLog('debug');
  log.logRefusal(request, reply(401, 'UNAUTHORIZED'));
  log.logRefusal(request, reply(503, 'SERVICE_UNAVAILABLE'));
  log.logRefusal(request, reply(404));
  log.logRefusal(request, reply(503));
  log.logError(new Error('no'), request);
  assert.deepEqual(
    lines().map(({ level, msg }) => [level, msg]),
    [
      [30, 'request refused: invalid credentials'],
      [40, 'request refused: service unavailable'],
      [30, 'request refused: status 404'],
      [20, 'request refused: status 503'],
      [50, 'request failed'],
    ],
  );
});

test('a failed request has one line, with the place where it failed', () => {
  const { log, lines } = requestLog();
  log.logError(new Error('a step failed'), request);
  log.logRefusal(request, { status: 500, headers: '', body: '', refusal: { code: 'INTERNAL_ERROR' } });
  const [line, ...others] = lines();
  assert.deepEqual(others, []);
  assert.equal(line?.requestId, 'abc-1');
  assert.match(JSON.stringify(line?.fault), /"message":"a step failed","at":\["at .*request-log\.test\.ts/);
});

test('each kind of refusal has its own budget, and what is beyond it is counted', async () => {
  const { log, clock, lines, stream } = requestLog();
  for (let at = 0; at < 100; at++) log.logRefusal(request, reply(401, 'UNAUTHORIZED'));
  log.logRefusal(request, reply(400, 'INVALID_REQUEST'));
  assert.deepEqual(
    lines().map(({ code }) => code),
    [...Array.from({ length: bounds.refusalLogLinesBurst }, () => 'UNAUTHORIZED'), 'INVALID_REQUEST'],
  );
  await once(stream, 'readable');
  assert.deepEqual(lines(), [
    {
      level: 40,
      leftOut: { UNAUTHORIZED: 100 - bounds.refusalLogLinesBurst },
      msg: 'log lines left out: too many refused requests',
    },
  ]);
  // The next second has no refusals.
  await once(stream, 'readable');
  assert.deepEqual(
    lines().map(({ msg }) => msg),
    ['log lines complete again: refused requests are within the limits'],
  );
  clock.advance(1_000);
  for (let at = 0; at < 100; at++) log.logRefusal(request, reply(401, 'UNAUTHORIZED'));
  assert.equal(lines().length, bounds.refusalLogLinesPerSecond);
  log.close();
  assert.deepEqual(lines()[0]?.leftOut, { UNAUTHORIZED: 100 - bounds.refusalLogLinesPerSecond });
});

test('a level that is off takes nothing of a budget and leaves nothing to tell', () => {
  const { log, lines } = requestLog('error');
  for (let at = 0; at < 100; at++) log.logRefusal(request, reply(401, 'UNAUTHORIZED'));
  log.close();
  assert.deepEqual(lines(), []);
});
