import { randomBytes } from 'node:crypto';
import { SecretRing } from '../../src/secrets/secret-ring.ts';

/** As most services have: one secret. */
export function createSecretRing(): SecretRing {
  return new SecretRing([{ number: 1, bytes: randomBytes(32) }]);
}
