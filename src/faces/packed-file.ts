import { type HeaderText, header } from '../http/header-text.ts';
import type { Exchange } from '../http/listener.ts';
import { readQueryParameters } from './query-parameters.ts';
import { type StaticFile, sendStatic } from './static-reply.ts';
import { weightedList } from './weighted-list.ts';

/** A file in every encoding it is sent in. */
export interface PackedFile {
  /** Tells one content from another; hexadecimal digits. */
  readonly hash: string;
  readonly plain: Uint8Array;
  readonly gzip: Uint8Array;
  readonly brotli: Uint8Array;
}

/** What a request says of the copy it wants. Read before a file is awaited, when its headers are still there. */
export interface FileAsked {
  readonly encodings: ReadonlyMap<string, number>;
  readonly ifNoneMatch: string;
  /** What the address names as `v`, if anything. */
  readonly version: string | undefined;
}

const parameters = ['v'] as const;

export function fileAsked(exchange: Exchange): FileAsked {
  const query = readQueryParameters(exchange.query, parameters);
  return {
    encodings: weightedList(exchange.header('accept-encoding')),
    ifNoneMatch: exchange.header('if-none-match'),
    version: query.ok ? query.values.v : undefined,
  };
}

/** Has a file sent compressed to whoever takes that; `headers` hold its type, and `Vary` with `Accept-Encoding`. */
export function packedFileSender(
  { hash, plain, gzip, brotli }: PackedFile,
  headers: HeaderText,
): (exchange: Exchange, asked: FileAsked) => void {
  const encoded = (name: string, bytes: Uint8Array): readonly [string, StaticFile] => [
    name,
    { bytes, hash, etag: `"${hash}-${name}"`, headers: headers + header('Content-Encoding', name) },
  ];
  const unencoded: StaticFile = { bytes: plain, hash, etag: `"${hash}"`, headers };
  // The smallest first.
  const files = [encoded('br', brotli), encoded('gzip', gzip)];
  return (exchange, { encodings, ifNoneMatch, version }) => {
    const [, file] = files.find(([name]) => (encodings.get(name) ?? 0) > 0) ?? [null, unencoded];
    sendStatic(exchange, file, version, ifNoneMatch);
  };
}
