import { apiPath } from '../common/api-client.ts';
import type { PartnerLogin } from '../common/login.ts';

/** Returns the address of an operation of the API in the vertical of the login. */
export function partnerPath(
  { vertical }: PartnerLogin,
  segments: readonly string[],
  query: Parameters<typeof apiPath>[1] = {},
): string {
  return apiPath(['v1', vertical, ...segments], query);
}
