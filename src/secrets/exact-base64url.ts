/**
 * The bytes of a base64url text, or null unless it is the one spelling we give them: the decoder passes over characters that
 * are not base64url, and over spare bits.
 */
export function decodeCanonicalBase64url(text: string): Buffer | null {
  const bytes = Buffer.from(text, 'base64url');
  return bytes.toString('base64url') === text ? bytes : null;
}
