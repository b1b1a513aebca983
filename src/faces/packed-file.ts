import { type HeaderText, formatHeader } from '../http/header-text.ts';
import type { RequestContext } from '../http/listener.ts';
import { parseQueryParameters } from './query-parameters.ts';
import { type StaticFile, sendStaticFile } from './static-reply.ts';
import { parseWeightedList } from './weighted-list.ts';

/** A file in every encoding it is sent in. */
export interface CompressedFile {
  /** Tells one content from another; hexadecimal digits. */
  readonly hash: string;
  readonly plain: Uint8Array;
  readonly gzip: Uint8Array;
  readonly brotli: Uint8Array;
}

/** What a request says of the copy it wants. Read before a file is awaited, when its headers are still there. */
export interface FileRequest {
  readonly encodings: ReadonlyMap<string, number>;
  readonly ifNoneMatch: string;
  /** What the address names as `v`, if anything. */
  readonly version: string | undefined;
}

const fileParameters = ['v'] as const;

export function readFileRequest(exchange: RequestContext): FileRequest {
  const query = parseQueryParameters(exchange.query, fileParameters);
  return {
    encodings: parseWeightedList(exchange.header('accept-encoding')),
    ifNoneMatch: exchange.header('if-none-match'),
    version: query.ok ? query.values.v : undefined,
  };
}

/** Has a file sent compressed to whoever takes that; `headers` hold its type, and `Vary` with `Accept-Encoding`. */
export function createFileSender(
  { hash, plain, gzip, brotli }: CompressedFile,
  headers: HeaderText,
): (exchange: RequestContext, asked: FileRequest) => void {
  const encoded = (name: string, bytes: Uint8Array): readonly [string, StaticFile] => [
    name,
    { bytes, hash, etag: `"${hash}-${name}"`, headers: headers + formatHeader('Content-Encoding', name) },
  ];
  const unencoded: StaticFile = { bytes: plain, hash, etag: `"${hash}"`, headers };
  // The smallest first.
  const files = [encoded('br', brotli), encoded('gzip', gzip)];
  return (exchange, { encodings, ifNoneMatch, version }) => {
    const [, file] = files.find(([name]) => (encodings.get(name) ?? 0) > 0) ?? [null, unencoded];
    sendStaticFile(exchange, file, version, ifNoneMatch);
  };
}
