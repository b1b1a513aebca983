import assert from 'node:assert/strict';
import { test } from 'node:test';
import { MalformedResponse, ResponseParser } from '../../../bench/open-loop/keep-alive-connection.ts';

const answers =
  'HTTP/1.1 200 OK\r\nContent-Length: 5\r\nX: y\r\n\r\nab\r\n\r' +
  'HTTP/1.1 302 Found\r\ncontent-length:0\r\n\r\n' +
  'HTTP/1.1 204 No Content\r\nDate: today\r\n\r\n' +
  'HTTP/1.1 304 Not Modified\r\nContent-Length: 300\r\n\r\n' +
  'HTTP/1.1 503 Service Unavailable\r\nConnection: close\r\nContent-Length: 3\r\n\r\nHTT';
const read = [
  [200, false],
  [302, false],
  [204, false],
  [304, false],
  [503, true],
];

function parse(chunks: Iterable<Buffer>): (readonly [number, boolean])[] {
  const found: (readonly [number, boolean])[] = [];
  const parser = new ResponseParser();
  for (const chunk of chunks) parser.push(chunk, (status, closes) => found.push([status, closes]));
  return found;
}

test('parses the same responses however the bytes are split', () => {
  const bytes = Buffer.from(answers);
  for (let size = 1; size <= bytes.length; size++) {
    const chunks: Buffer[] = [];
    for (let at = 0; at < bytes.length; at += size) chunks.push(bytes.subarray(at, at + size));
    assert.deepEqual(parse(chunks), read, `in pieces of ${size}`);
  }
});

test('reports a response only after its complete body', () => {
  const parser = new ResponseParser();
  let told = 0;
  const push = (text: string) => parser.push(Buffer.from(text), () => told++);
  push('HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nabc');
  assert.equal(told, 0);
  push('d');
  assert.equal(told, 1);
});

for (const [name, text] of [
  ['something else than HTTP', 'SSH-2.0-server\r\n\r\n'],
  ['an answer without a length', 'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n'],
  ['an answer before the answer', 'HTTP/1.1 100 Continue\r\n\r\n'],
  ['a head without an end', `HTTP/1.1 200 OK\r\nX: ${'y'.repeat(70_000)}`],
] as const) {
  test(`rejects ${name}`, () => {
    assert.throws(() => parse([Buffer.from(text)]), MalformedResponse);
  });
}
