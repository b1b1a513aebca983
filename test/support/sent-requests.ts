import type { Asked } from './http-client.ts';

/** Parses requests from the bytes that were sent on a connection, until a length is ambiguous. */
export class SentRequests {
  #bytes = Buffer.alloc(0);
  #isClear = true;

  add(bytes: string | Buffer): void {
    this.#bytes = Buffer.concat([this.#bytes, Buffer.from(bytes)]);
  }

  /**
   * Returns the next request and the sent part of its body, or all remaining bytes if the length is ambiguous. Returns null
   * for a request without a valid request line, and for every request after an ambiguous length.
   */
  take(): Asked | null {
    if (!this.#isClear) return null;
    // RFC 9112, section 2.2, allows empty lines before a request.
    while (this.#bytes.toString('latin1', 0, 2) === '\r\n') this.#bytes = this.#bytes.subarray(2);
    const headEnd = this.#bytes.indexOf('\r\n\r\n');
    const [line = '', ...fields] = this.#bytes.toString('latin1', 0, headEnd < 0 ? undefined : headEnd).split('\r\n');
    const [, method, path] = /^(\S+) (\/[^ ]*) HTTP\/1\.[01]$/.exec(line) ?? [];
    const pairs = fields.map(
      (field) => /^([\w-]+):[ \t]*(.*?)[ \t]*$/.exec(field)?.slice(1) as [string, string] | undefined,
    );
    const framing = pairs.filter((pair) => /^(content-length|transfer-encoding)$/i.test(pair?.[0] ?? ''));
    const [[name = '', length = ''] = ['Content-Length', '0'], ...more] = framing;
    this.#isClear =
      headEnd >= 0 &&
      !pairs.includes(undefined) &&
      more.length === 0 &&
      name.toLowerCase() === 'content-length' &&
      /^\d{1,9}$/.test(length);
    if (method === undefined || path === undefined) {
      this.#isClear = false;
      return null;
    }
    const bodyEnd = this.#isClear ? headEnd + 4 + Number(length) : this.#bytes.length;
    const body = headEnd < 0 ? Buffer.alloc(0) : this.#bytes.subarray(headEnd + 4, bodyEnd);
    this.#bytes = this.#bytes.subarray(bodyEnd);
    const headers = Object.fromEntries(pairs.filter((pair) => pair !== undefined));
    return { method, path, headers, body };
  }
}
