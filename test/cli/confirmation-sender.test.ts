import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { type TestContext, test } from 'node:test';
import { ConfirmationClient } from '../../src/cli/actions/confirmation-client.ts';
import { CommandLineError } from '../../src/cli/command-line-error.ts';

type Outcome = 'accepted' | 'repeated' | 'rejected' | 'unknown';

/** A server that gives these answers one after the other: outcomes of the rows asked about, a status, or a cut connection. */
async function serverWith(t: TestContext, ...answers: readonly (readonly Outcome[] | number | 'cut' | string)[]) {
  const asked: unknown[][] = [];
  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const answer = answers[Math.min(asked.length, answers.length - 1)];
    asked.push(JSON.parse(Buffer.concat(chunks).toString()) as unknown[]);
    if (answer === 'cut') return response.destroy();
    if (typeof answer === 'number') return response.writeHead(answer).end();
    if (typeof answer === 'string') return response.end(answer);
    return response.end(JSON.stringify({ results: answer?.map((outcome, index) => ({ index, outcome })) }));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.after(() => {
    server.closeAllConnections();
    server.close();
  });
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return { asked, sender: new ConfirmationClient(url, 'token', { retryMs: 1 }) };
}

const items = [{ txid: 'a' }, { txid: 'b' }, { txid: 'c' }];
const outcomesOf = async (sender: ConfirmationClient) => (await sender.send(items)).map(({ outcome }) => outcome);

test('rows whose outcome is unknown are asked about again, and no others', async (t) => {
  const { asked, sender } = await serverWith(
    t,
    ['accepted', 'unknown', 'unknown'],
    ['repeated', 'unknown'],
    ['rejected'],
  );
  assert.deepEqual(await outcomesOf(sender), ['accepted', 'repeated', 'rejected']);
  assert.deepEqual(asked, [items, [{ txid: 'b' }, { txid: 'c' }], [{ txid: 'c' }]]);
});

test('a batch is sent again when the server is busy, or gone for a moment', async (t) => {
  const { asked, sender } = await serverWith(t, 503, 'cut', 503, ['accepted', 'accepted', 'accepted']);
  assert.deepEqual(await outcomesOf(sender), ['accepted', 'accepted', 'accepted']);
  assert.equal(asked.length, 4);
});

test('it gives up in the end: on rows one by one, and on a server that takes none', async (t) => {
  const undecided = await serverWith(t, ['unknown', 'accepted', 'unknown'], ['unknown', 'unknown']);
  assert.deepEqual(await outcomesOf(undecided.sender), ['unknown', 'accepted', 'unknown']);
  assert.equal(undecided.asked.length, 5);
  const busy = await serverWith(t, 503);
  await assert.rejects(busy.sender.send(items), CommandLineError);
  assert.equal(busy.asked.length, 5);
});

test('a server that never answered is not waited for', async (t) => {
  const { asked, sender } = await serverWith(t, 'cut');
  await assert.rejects(sender.send(items), /CommandLineError: no server responds/);
  assert.equal(asked.length, 1);
});

test('names the setting where the server does not know the host name', async (t) => {
  const { sender } = await serverWith(t, 421);
  await assert.rejects(sender.send(items), /CommandLineError: .* add it to SVC_OPS_ALLOWED_HOSTS of the server/);
});

test('what is no answer of the endpoint ends it', async (t) => {
  for (const answer of [401, 404, 413, 'hello', '{}', '{"results":[]}', '{"results":[{"index":0,"outcome":"lost"}]}']) {
    const { asked, sender } = await serverWith(t, answer);
    await assert.rejects(sender.send(items), CommandLineError);
    assert.equal(asked.length, 1);
  }
});
