import type { IncomingMessage } from 'node:http';

/** Far more than our longest form, and little enough that nobody can fill our memory. */
const formBytesMax = 16 * 1024;

export type FormResult =
  | { readonly ok: true; readonly form: URLSearchParams }
  | { readonly ok: false; readonly status: 413 | 415 };

/** The fields of a posted form. */
export async function readForm(request: IncomingMessage): Promise<FormResult> {
  const [contentType] = (request.headers['content-type'] ?? '').split(';');
  if (contentType!.trim().toLowerCase() !== 'application/x-www-form-urlencoded') return { ok: false, status: 415 };
  if (Number(request.headers['content-length'] ?? 0) > formBytesMax) return { ok: false, status: 413 };
  const chunks: Buffer[] = [];
  let bytes = 0;
  // Stopping halfway must not break the connection, which the refusal has to travel on.
  for await (const chunk of request.iterator({ destroyOnReturn: false }) as AsyncIterable<Buffer>) {
    bytes += chunk.length;
    if (bytes > formBytesMax) return { ok: false, status: 413 };
    chunks.push(chunk);
  }
  return { ok: true, form: new URLSearchParams(Buffer.concat(chunks).toString('utf8')) };
}
