import { personalLoans } from '../../src/index.ts';
import { DocumentCheck } from './document-check.ts';
import { equipmentLeases } from './equipment-leases.ts';
import type { Answer, Asked } from './http-client.ts';

const checks = new Map<string, DocumentCheck>();

/** Returns the check of a vertical's OpenAPI document. Each process creates the check once. */
export function documentCheck(segment: string): DocumentCheck | undefined {
  const vertical = [personalLoans, equipmentLeases].find((each) => each.segment === segment);
  if (vertical === undefined) return undefined;
  let check = checks.get(segment);
  if (check === undefined) {
    check = new DocumentCheck(vertical);
    checks.set(segment, check);
  }
  return check;
}

/** Checks the error response to bytes that are not a valid request. */
export function checkErrorOfNone(answer: Answer): void {
  documentCheck(personalLoans.segment)?.checkError(answer);
}

/**
 * Checks a response of the public listener against the OpenAPI document. `HttpClient` and `ServiceConnection` call this
 * function for every response, and test/architecture/checked-answers.test.ts rejects other clients.
 *
 * The check skips paths that are not in the document (see `DocumentCheck.check`), the operations listener, which has no
 * document, and error responses that an engine generates (see `ServiceConnection`). Only test/widget/suites/documented-requests.ts
 * checks the requests of browsers. Other browser tests are about the pages, and some of them replace responses.
 */
export function checkAgainstDocuments(asked: Asked, answer: Answer): void {
  const segment = /^\/v1\/([^/?]+)\//.exec(asked.path)?.[1];
  // The paths for browsers and their descriptions are the same for all verticals.
  documentCheck(segment ?? personalLoans.segment)?.check(asked, answer);
}
