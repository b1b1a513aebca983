import { type IncomingHttpHeaders, request } from 'node:http';

/** A file as it is sent, neither decoded nor unpacked. */
export function getBytes(
  port: number,
  url: URL,
  headers: Readonly<Record<string, string>> = {},
): Promise<{ readonly status: number; readonly headers: IncomingHttpHeaders; readonly bytes: Buffer }> {
  return new Promise((resolve, reject) => {
    const sent = request(
      { host: '127.0.0.1', port, path: url.pathname + url.search, headers, agent: false },
      (message) => {
        const chunks: Buffer[] = [];
        message.on('data', (chunk: Buffer) => chunks.push(chunk));
        message.on('error', reject);
        message.on('end', () =>
          resolve({ status: message.statusCode!, headers: message.headers, bytes: Buffer.concat(chunks) }),
        );
      },
    );
    sent.on('error', reject);
    sent.end();
  });
}
