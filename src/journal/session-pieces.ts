import { randomBytes } from 'node:crypto';
import { readdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { SecretSet } from '../secrets/secret-set.ts';
import { JournalCipher, keySaltLength } from './journal-format.ts';

const numberBytes = 4;

/**
 * Encrypts chunks with pocket fields in the way of a journal log: with the newest secret and a new salt. The first encrypted chunk contains
 * the number of the secret and the salt, each further one the length of the ciphertext and the ciphertext.
 */
export function* encryptChunks(secrets: SecretSet, chunks: Iterable<Uint8Array>): Generator<Uint8Array> {
  const { number } = secrets.newest;
  const salt = randomBytes(keySaltLength);
  const cipher = new JournalCipher(secrets.deriveKey(number, 'journal')!, salt);
  yield Buffer.concat([encodeNumber(number), salt]);
  let count = 0;
  for (const chunk of chunks) {
    const [ciphertext, tag] = cipher.encryptBatchInParts(count++, chunk);
    yield encodeNumber(ciphertext.length + tag.length);
    yield ciphertext;
    yield tag;
  }
}

/** Decrypts the result of `encryptChunks`. Throws if the secrets do not fit. */
export function* decryptChunks(secrets: SecretSet, bytes: Buffer): Generator<Buffer> {
  const secret = secrets.deriveKey(bytes.readUInt32LE(0), 'journal');
  if (secret === null) throw new Error('the secret of the pocket fields is not in the secret file');
  const cipher = new JournalCipher(secret, bytes.subarray(numberBytes, numberBytes + keySaltLength));
  let count = 0;
  for (let at = numberBytes + keySaltLength; at < bytes.length; ) {
    const start = at + numberBytes;
    at = start + bytes.readUInt32LE(at);
    const chunk = cipher.decryptBatch(count++, bytes.subarray(start, at));
    if (chunk === null) throw new Error('the pocket fields cannot be decrypted with the secrets in the secret file');
    yield chunk;
  }
}

function encodeNumber(number: number): Buffer {
  const bytes = Buffer.alloc(numberBytes);
  bytes.writeUInt32LE(number);
  return bytes;
}

/** Returns the folder of the pieces beside the logs of a journal, so that they are never in a backup, which copies only the logs. */
export function sessionPieceFolder(journalFolder: string): string {
  return join(journalFolder, 'snapshot');
}

const piecePattern = /^[a-z]+\.(\d+)-/;

/** Returns the end of the quarter of an hour in which the sessions of a piece were created, in Unix milliseconds; infinity for other files. */
function readPieceEndMs(name: string): number {
  return Number(piecePattern.exec(name)?.[1] ?? Number.POSITIVE_INFINITY);
}

/** Deletes the pieces whose sessions were created before a time in Unix milliseconds. */
export async function deleteExpiredPieces(folder: string, expiredMs: number): Promise<void> {
  const names = await readdir(folder).catch((error: NodeJS.ErrnoException) => {
    if (error.code !== 'ENOENT') throw error;
    return [];
  });
  for (const name of names) if (readPieceEndMs(name) <= expiredMs) await rm(join(folder, name), { force: true });
}
