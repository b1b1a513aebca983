import { randomBytes } from 'node:crypto';
import { formatSubId, subIdByteLength } from '../../src/ids/sub-id.ts';

/** New ids of sessions created at this time: random but for that, so nobody signed them, and a store need not mind. */
export function subIdsAt(createdMs: number, count: number): string[] {
  const random = randomBytes(count * subIdByteLength);
  return Array.from({ length: count }, (_, at) => {
    const bytes = random.subarray(at * subIdByteLength, (at + 1) * subIdByteLength);
    bytes.writeUIntBE(createdMs, 0, 6);
    return formatSubId(bytes);
  });
}

export function subIdAt(createdMs: number): string {
  return subIdsAt(createdMs, 1)[0]!;
}

/** The text of an id, from its numbers of 32 bits. */
export function subIdOfWords(words: Int32Array): string {
  const bytes = Buffer.alloc(subIdByteLength);
  for (const [at, word] of words.entries()) bytes.writeInt32BE(word, at * 4);
  return formatSubId(bytes);
}
