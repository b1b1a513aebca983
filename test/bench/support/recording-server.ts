import { createServer } from 'node:http';
import type { TestContext } from 'node:test';
import type { PreparedRequest } from '../../../bench/load/prepared-request.ts';
import { listen } from '../../support/listen.ts';

/** A request in the form in which the recording server receives it. */
export function asReceived({ method, path, key, body = '' }: PreparedRequest): string {
  return JSON.stringify([method, path, `Bearer ${key}`, body === '' ? '' : 'application/json', body]);
}

/** Starts a server that records its requests until the end of the test. */
export async function startRecordingServer(t: TestContext, statusOf: (path: string) => number) {
  const received: string[] = [];
  const server = createServer(async (req, res) => {
    const body = (await req.setEncoding('utf8').toArray()).join('');
    const { authorization, 'content-type': type = '' } = req.headers;
    received.push(JSON.stringify([req.method, req.url, authorization, type, body]));
    res.statusCode = statusOf(req.url!);
    res.end('ok');
  });
  return { port: await listen(t, server), received };
}
