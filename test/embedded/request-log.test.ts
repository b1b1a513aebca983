import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { type Level, pino } from 'pino';
import { afterwards } from '../support/afterwards.ts';
import { engines, RunningMarketplace } from '../support/running-marketplace.ts';
import { personalLoansFixture as fixture } from '../support/vertical-fixtures.ts';

interface Line {
  readonly msg: string;
  readonly [member: string]: unknown;
}

/** Starts a service with a log that the test can read. */
async function logged(t: TestContext, engine: (typeof engines)[number], level: Level) {
  const lines: Line[] = [];
  const logger = pino({ level, base: null }, { write: (line) => void lines.push(JSON.parse(line)) });
  const market = await RunningMarketplace.start(engine, { logger });
  afterwards(t, () => market.close());
  return { market, lines, of: (message: string) => lines.filter(({ msg }) => msg === message) };
}

for (const engine of engines) {
  test(`logs every request once at debug level with the names of its key and account, on ${engine}`, async (t) => {
    const { market, of } = await logged(t, engine, 'debug');
    const account = 'acme';
    const { key, id } = market.issueKey(fixture, { account });
    const caller = market.callerWith(fixture, key);
    const answered = await caller.post('session', { referrer_tag: 'logged' });
    const refused = await caller.post('session', { referrer_tag: '!' });
    const { time, durationMs, ...line } = of('request answered').find(({ route }) => route === 'session')!;
    const common = { route: 'session', method: 'POST', keyId: id, account };
    assert.deepEqual([typeof time, typeof durationMs], ['number', 'number']);
    assert.deepEqual(line, {
      level: 20,
      requestId: answered.headers.get('x-request-id'),
      ...common,
      status: 200,
      msg: 'request answered',
    });
    const [{ time: _time, durationMs: _durationMs, ...refusal }] = of('request rejected: invalid referrer_tag') as [
      Line,
    ];
    assert.deepEqual(refusal, {
      level: 30,
      requestId: refused.headers.get('x-request-id'),
      ...common,
      status: 400,
      code: 'INVALID_REFERRER_TAG',
      msg: 'request rejected: invalid referrer_tag',
    });
  });
}

test('logs only rejected requests at info level', async (t) => {
  const { market, lines } = await logged(t, 'uws', 'info');
  const caller = market.caller(fixture);
  await caller.createSession('quiet');
  await caller.post('session', { referrer_tag: '!' });
  assert.deepEqual(
    lines.map(({ msg }) => msg),
    ['request rejected: invalid referrer_tag'],
  );
});

test('logs changes through the operations API', async (t) => {
  const { market, lines } = await logged(t, 'node', 'info');
  const send = (method: string, path: string, json?: object) => {
    const body = json === undefined ? '' : JSON.stringify(json);
    const headers = {
      Authorization: `Bearer ${market.operatorToken}`,
      'Content-Type': 'application/json',
      'Content-Length': String(body.length),
    };
    return market.operations.send({ method, path, headers, body });
  };
  const wanted = { account: 'acme', vertical: fixture.vertical.segment, mode: 'test' };
  const { id } = JSON.parse((await send('POST', '/keys', wanted)).text) as { id: string };
  const origin = 'https://acme.example';
  await send('POST', '/origins', { account: 'acme', origins: [origin] });
  await send('DELETE', `/origins?account=acme&origin=${encodeURIComponent(origin)}`);
  await send('DELETE', `/keys/${id}`);
  assert.deepEqual(
    lines.map(({ level: _level, time: _time, ...line }) => line),
    [
      { keyId: id, account: 'acme', msg: 'API key created through the operations API' },
      { account: 'acme', origins: 1, msg: 'embedding origins allowed through the operations API' },
      { account: 'acme', origins: 1, msg: 'embedding origins removed through the operations API' },
      { keyId: id, account: 'acme', msg: 'API key revoked through the operations API' },
    ],
  );
});
