import { createHash, randomBytes } from 'node:crypto';
import type { Tenant } from '../../src/domain/tenant.ts';
import { encodeVerticalAndMode, formatSubId, subIdByteLength } from '../../src/ids/sub-id.ts';
import { SecretSet } from '../../src/secrets/secret-set.ts';
import { personalLoans } from '../../src/verticals/personal-loans/personal-loans.ts';

export const liveTenant: Tenant = { account: 42, vertical: personalLoans, mode: 'live' };
export const testTenant: Tenant = { ...liveTenant, mode: 'test' };

/** Derives one secret from each word. The secrets have the numbers 1, 2 and so on. */
export function secretSetOf(...words: readonly string[]): SecretSet {
  return new SecretSet(words.map((word, index) => ({ number: index + 1, bytes: sha256(word) })));
}

function sha256(text: string): Buffer {
  return createHash('sha256').update(text).digest();
}

/** Returns new random ids of live sessions with this creation time, without a valid MAC. The session stores do not verify the MAC. */
export function subIdsAt(createdMs: number, count: number): string[] {
  const random = randomBytes(count * subIdByteLength);
  return Array.from({ length: count }, (_, at) => {
    const bytes = random.subarray(at * subIdByteLength, (at + 1) * subIdByteLength);
    bytes.writeUIntBE(createdMs, 0, 6);
    bytes.writeUInt32BE(liveTenant.account, 8);
    bytes[12] = encodeVerticalAndMode(personalLoans.number, 'live');
    return formatSubId(bytes);
  });
}

export function subIdAt(createdMs: number): string {
  return subIdsAt(createdMs, 1)[0]!;
}
