import { randomBytes } from 'node:crypto';
import { subIdBytes, subIdText } from '../../src/sessions/sub-id.ts';

/** A new id of a session created at this time: random but for that, so nobody signed it, and a store need not mind. */
export function subIdAt(createdMs: number): string {
  const bytes = randomBytes(subIdBytes);
  bytes.writeUIntBE(createdMs, 0, 6);
  return subIdText(bytes);
}

/** The text of an id, from its numbers of 32 bits. */
export function subIdOfWords(words: Int32Array): string {
  const bytes = Buffer.alloc(subIdBytes);
  for (const [at, word] of words.entries()) bytes.writeInt32BE(word, at * 4);
  return subIdText(bytes);
}
