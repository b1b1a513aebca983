import { randomBytes } from 'node:crypto';

// 72 random bits make the prefix unique among processes and threads; the counter makes the id unique within one. Sixteen
// bytes of randomness for each request would cost several times as much as the rest of the id.
const requestIdPrefix = `${randomBytes(9).toString('base64url')}-`;
let issuedRequestIds = 0;

/** A new request id: 14 or more characters of `[A-Za-z0-9_-]`, never repeated by any process. */
export function nextRequestId(): string {
  issuedRequestIds += 1;
  return requestIdPrefix + issuedRequestIds.toString(36);
}
