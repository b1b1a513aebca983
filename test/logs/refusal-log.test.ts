import assert from 'node:assert/strict';
import { once } from 'node:events';
import { PassThrough } from 'node:stream';
import { test } from 'node:test';
import { type LevelWithSilent, pino } from 'pino';
import { bounds } from '../../src/bounds.ts';
import type { RequestInTrouble } from '../../src/http/listener.ts';
import { RefusalLog } from '../../src/logs/refusal-log.ts';
import { ManualClock } from '../support/manual-clock.ts';

const request: RequestInTrouble = {
  requestId: 'abc-1',
  method: 'POST',
  route: 1,
  askedBy: { account: 3, keyNumber: 7 },
  elapsedMs: 12.4,
};

interface Line {
  readonly level: number;
  readonly requestId?: string;
  readonly route?: string;
  readonly method?: string;
  readonly code?: string;
  readonly fault?: object;
  readonly leftOut?: Readonly<Record<string, number>>;
}

function refusalLog(level: LevelWithSilent = 'info') {
  const stream = new PassThrough();
  const clock = new ManualClock();
  const log = new RefusalLog({
    logger: pino({ level, base: null, timestamp: false }, stream),
    clock,
    routeNames: ['other', 'inputs'],
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
  const { log, lines } = refusalLog();
  log.refused(request, reply(400, 'INVALID_REQUEST', 'fields'));
  assert.deepEqual(lines(), [
    {
      level: 30,
      requestId: 'abc-1',
      route: 'inputs',
      method: 'POST',
      status: 400,
      code: 'INVALID_REQUEST',
      param: 'fields',
      key: 7,
      account: 3,
      ms: 12,
      msg: 'refused',
    },
  ]);
});

test('a method as sent is in no line', () => {
  const { log, lines } = refusalLog('trace');
  log.refused({ ...request, route: 0, method: 'JANE' }, reply(404));
  const written = lines();
  assert.deepEqual(
    written.map(({ route, method }) => [route, method]),
    [['other', 'other']],
  );
  assert.ok(!/jane/i.test(JSON.stringify(written)));
});

test('what is ours is a warning or an error, the rest is information', () => {
  const { log, lines } = refusalLog('debug');
  log.refused(request, reply(401, 'UNAUTHORIZED'));
  log.refused(request, reply(503, 'SERVICE_UNAVAILABLE'));
  log.refused(request, reply(404));
  log.refused(request, reply(503));
  log.fault(new Error('no'), request);
  assert.deepEqual(
    lines().map(({ level }) => level),
    [30, 40, 30, 20, 50],
  );
});

test('a failed request has one line, with the place where it failed', () => {
  const { log, lines } = refusalLog();
  log.fault(new Error('a step failed'), request);
  log.refused(request, { status: 500, headers: '', body: '', refusal: { code: 'INTERNAL_ERROR' } });
  const [line, ...others] = lines();
  assert.deepEqual(others, []);
  assert.equal(line?.requestId, 'abc-1');
  assert.match(JSON.stringify(line?.fault), /"message":"a step failed","at":\["at .*refusal-log\.test\.ts/);
});

test('each kind of refusal has its own budget, and what is beyond it is counted', async () => {
  const { log, clock, lines, stream } = refusalLog();
  for (let at = 0; at < 100; at++) log.refused(request, reply(401, 'UNAUTHORIZED'));
  log.refused(request, reply(400, 'INVALID_REQUEST'));
  assert.deepEqual(
    lines().map(({ code }) => code),
    [...Array.from({ length: bounds.refusalLinesAtOnce }, () => 'UNAUTHORIZED'), 'INVALID_REQUEST'],
  );
  await once(stream, 'readable');
  assert.deepEqual(lines(), [
    { level: 40, leftOut: { UNAUTHORIZED: 100 - bounds.refusalLinesAtOnce }, msg: 'refusals left out of the log' },
  ]);
  clock.advance(1_000);
  for (let at = 0; at < 100; at++) log.refused(request, reply(401, 'UNAUTHORIZED'));
  assert.equal(lines().length, bounds.refusalLinesPerSecond);
  log.close();
  assert.deepEqual(lines()[0]?.leftOut, { UNAUTHORIZED: 100 - bounds.refusalLinesPerSecond });
});

test('a level that is off takes nothing of a budget and leaves nothing to tell', () => {
  const { log, lines } = refusalLog('error');
  for (let at = 0; at < 100; at++) log.refused(request, reply(401, 'UNAUTHORIZED'));
  log.close();
  assert.deepEqual(lines(), []);
});
