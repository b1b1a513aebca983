import { readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { crc32 } from 'node:zlib';
import { bounds } from '../bounds.ts';
import { OutdatedPartError, type SnapshotPart, type StoredPiece } from '../domain/snapshot-part.ts';
import type { LedgerSpan } from '../ledger/ledger.ts';

/** A part of a snapshot, and the folder of its files. */
export interface PlacedPart<Part = SnapshotPart> {
  readonly part: Part;
  readonly folder: string;
}

/** File that contains a piece of a part. The file never changes. */
export interface PieceFile {
  readonly part: string;
  readonly id: string;
  readonly file: string;
  readonly bytes: number;
  readonly crc32: number;
}

/**
 * Content of a snapshot, which is written after the files of all pieces. The pieces were captured while the last record of the ledger was in
 * `span`, so a start restores the pieces and applies the records after the start of `span`.
 */
export interface SnapshotContent {
  readonly span: LedgerSpan;
  readonly pieces: readonly PieceFile[];
}

const formatNumber = 1;

export function snapshotContentPath(folder: string): string {
  return join(folder, 'content.json');
}

/** Encodes the content in two lines: a header with the format and the CRC-32 of the second line, and the content. Both are JSON. */
export function encodeSnapshotContent(content: SnapshotContent): string {
  const body = JSON.stringify(content);
  return `${JSON.stringify({ format: formatNumber, crc32: crc32(body) })}\n${body}\n`;
}

/** Reads the content of the snapshot in a folder. `problem` is null if there is no snapshot. */
export function readSnapshotContent(folder: string): {
  readonly content: SnapshotContent | null;
  readonly problem: string | null;
} {
  try {
    const path = snapshotContentPath(folder);
    if (statSync(path).size > bounds.snapshotContentBytesMax) return { content: null, problem: 'too large' };
    const [header = '', body = '', end] = readFileSync(path, 'utf8').split('\n');
    const { format, crc32: checksum } = JSON.parse(header) as { readonly format: unknown; readonly crc32: unknown };
    // The checksum proves that `encodeSnapshotContent` wrote the body, so the members need no further checks.
    const isValid = end === '' && format === formatNumber && checksum === crc32(body);
    return isValid ? { content: JSON.parse(body), problem: null } : { content: null, problem: 'damaged' };
  } catch (error) {
    if (error instanceof SyntaxError) return { content: null, problem: 'damaged' };
    const { code } = error as NodeJS.ErrnoException;
    return { content: null, problem: code === 'ENOENT' ? null : `unreadable: ${code}` };
  }
}

/**
 * Restores a part from its files. Throws, and leaves the part empty, if the snapshot has no such part, if a file is missing or damaged, or if
 * the part refuses its content.
 */
export function restorePart({ pieces }: SnapshotContent, { part, folder }: PlacedPart): void {
  const files = pieces.filter((piece) => piece.part === part.name);
  if (files.length === 0) throw new Error('the snapshot does not contain the part');
  part.restore(readPieces(files, folder, (id) => part.isObsolete?.(id) === true));
}

function* readPieces(
  files: readonly PieceFile[],
  folder: string,
  isObsolete: (id: string) => boolean,
): Generator<StoredPiece> {
  for (const { id, file, bytes: length, crc32: checksum } of files) {
    if (isObsolete(id)) continue;
    const bytes = readPieceFile(join(folder, file));
    if (bytes.length !== length || crc32(bytes) !== checksum) throw new Error(`the file of piece ${id} is damaged`);
    yield { id, bytes };
  }
}

function readPieceFile(path: string): Buffer {
  try {
    return readFileSync(path);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
    // A backup has no pieces with pocket fields.
    throw new OutdatedPartError('a piece is missing');
  }
}
