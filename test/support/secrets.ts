import { createHash } from 'node:crypto';
import { SecretRing } from '../../src/secrets/secret-ring.ts';

/** Creates a secret ring that is the same for the same words. The secrets have the numbers 1, 2 and so on. */
export function ringOf(...words: readonly string[]): SecretRing {
  return new SecretRing(words.map((word, index) => ({ number: index + 1, bytes: sha256(word) })));
}

function sha256(text: string): Buffer {
  return createHash('sha256').update(text).digest();
}
