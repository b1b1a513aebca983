import { createHash } from 'node:crypto';
import { SecretRing } from '../../src/secrets/secret-ring.ts';

/** A ring of secrets that are the same whenever the same words are given; their numbers count from 1. */
export function ringOf(...words: readonly string[]): SecretRing {
  return new SecretRing(words.map((word, index) => ({ number: index + 1, bytes: sha256(word) })));
}

function sha256(text: string): Buffer {
  return createHash('sha256').update(text).digest();
}
