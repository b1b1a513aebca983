import { Hmac } from './hmac.ts';
import type { KeyPurpose, SecretRing } from './secret-ring.ts';

/** One HMAC for each secret, at the place of its number: whatever is signed carries that number, and a gap signs nothing. */
export function deriveHmacs(
  secrets: SecretRing,
  purpose: KeyPurpose,
  messageBytesMax: number,
): readonly (Hmac | undefined)[] {
  const hmacs: (Hmac | undefined)[] = [];
  for (const number of secrets.secretNumbers) hmacs[number] = new Hmac(secrets.deriveKey(number, purpose)!, messageBytesMax);
  return hmacs;
}
