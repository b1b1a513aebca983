import type { CookieCipher } from '../web/seal.ts';
import type { EmbedFormat, Variant } from './variants.ts';

/** One page load and what has come of it. Nothing of it is kept on the server. */
export interface Visit {
  readonly subId: string;
  readonly variant: Variant;
  readonly assignment: Assignment;
  /** Another way to show the offers than the variant's own, for looking. */
  readonly embed: EmbedFormat | null;
  readonly sandbox: boolean;
  /** As entered, by pocket field: to fill the form again, and to start a new session where one is over. */
  readonly answers: Answers;
}

/** Drawn for the visitor, or forced by `?variant=` for looking. Sessions carry it as metadata. */
export type Assignment = 'drawn' | 'forced';

export type Answers = Readonly<Record<string, string>>;

/**
 * The visit travels in a sealed cookie. Sealed and not only signed, for it holds an income; and not only HttpOnly, since a
 * sub_id is no secret (every click URL has it), so that whoever finds one must not get to see that visitor's offers by it.
 */
export function encryptVisit(seal: CookieCipher, visit: Visit): string {
  return seal.encrypt(JSON.stringify(visit));
}

export function decryptVisit(seal: CookieCipher, cookie: string | undefined): Visit | null {
  const text = cookie === undefined ? null : seal.decrypt(cookie);
  // Nobody but this code has sealed it, so its shape needs no check. Another shape takes another purpose of the seal.
  return text === null ? null : (JSON.parse(text) as Visit);
}

export const visitKeyPurpose = 'visit, version 1';
