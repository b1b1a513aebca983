import assert from 'node:assert/strict';
import { createServer } from 'node:http';
import { json } from 'node:stream/consumers';
import { type TestContext, test } from 'node:test';
import { CommandLineError } from '../../src/cli/command.ts';
import { ConfirmationClient } from '../../src/cli/commands/confirmation-client.ts';
import { listen } from '../support/listen.ts';

type Outcome = 'accepted' | 'repeated' | 'rejected' | 'unknown';

/** Starts a server that sends these responses in turn: outcomes of rows, a status, a body, or a closed connection. */
async function serverWith(t: TestContext, ...answers: readonly (readonly Outcome[] | number | 'cut' | string)[]) {
  const requests: unknown[][] = [];
  const server = createServer(async (request, response) => {
    const answer = answers[Math.min(requests.length, answers.length - 1)];
    requests.push((await json(request)) as unknown[]);
    if (answer === 'cut') return response.destroy();
    if (typeof answer === 'number') return response.writeHead(answer).end();
    if (typeof answer === 'string') return response.end(answer);
    return response.end(JSON.stringify({ results: answer?.map((outcome, index) => ({ index, outcome })) }));
  });
  const url = `http://127.0.0.1:${await listen(t, server)}`;
  return { requests, sender: new ConfirmationClient(url, 'token', { retryMs: 1 }) };
}

const items = [{ txid: 'a' }, { txid: 'b' }, { txid: 'c' }];
const outcomesOf = async (sender: ConfirmationClient) => (await sender.sendRows(items)).map(({ outcome }) => outcome);

test('retries only confirmations with an unknown outcome', async (t) => {
  const { requests, sender } = await serverWith(
    t,
    ['accepted', 'unknown', 'unknown'],
    ['repeated', 'unknown'],
    ['rejected'],
  );
  assert.deepEqual(await outcomesOf(sender), ['accepted', 'repeated', 'rejected']);
  assert.deepEqual(requests, [items, [{ txid: 'b' }, { txid: 'c' }], [{ txid: 'c' }]]);
});

test('retries a batch after status 503 and after a closed connection', async (t) => {
  const { requests, sender } = await serverWith(t, 503, 'cut', 503, ['accepted', 'accepted', 'accepted']);
  assert.deepEqual(await outcomesOf(sender), ['accepted', 'accepted', 'accepted']);
  assert.equal(requests.length, 4);
});

test('stops after the maximum number of attempts', async (t) => {
  const undecided = await serverWith(t, ['unknown', 'accepted', 'unknown'], ['unknown', 'unknown']);
  assert.deepEqual(await outcomesOf(undecided.sender), ['unknown', 'accepted', 'unknown']);
  assert.equal(undecided.requests.length, 5);
  const busy = await serverWith(t, 503);
  await assert.rejects(busy.sender.sendRows(items), CommandLineError);
  assert.equal(busy.requests.length, 5);
});

test('fails without a retry if no server responds to the first batch', async (t) => {
  const { requests, sender } = await serverWith(t, 'cut');
  await assert.rejects(sender.sendRows(items), /CommandLineError: no server responds/);
  assert.equal(requests.length, 1);
});

test('names the server setting to change if the server does not accept the host name', async (t) => {
  const { sender } = await serverWith(t, 421);
  await assert.rejects(sender.sendRows(items), /CommandLineError: .* add it to SVC_OPS_ALLOWED_HOSTS of the server/);
});

test('throws without a retry after an unexpected response', async (t) => {
  for (const answer of [401, 404, 413, 'hello', '{}', '{"results":[]}', '{"results":[{"index":0,"outcome":"lost"}]}']) {
    const { requests, sender } = await serverWith(t, answer);
    await assert.rejects(sender.sendRows(items), CommandLineError);
    assert.equal(requests.length, 1);
  }
});
