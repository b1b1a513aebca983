import { personalLoans } from '../../src/index.ts';
import { DocumentCheck } from './document-check.ts';
import { equipmentLeases } from './equipment-leases.ts';
import type { Answer, Asked } from './http-client.ts';

const checks = new Map<string, DocumentCheck>();

/** The check of a vertical's document, which is made once in a process. */
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

/** An answer to what is no request at any address. */
export function checkErrorOfNone(answer: Answer): void {
  documentCheck(personalLoans.segment)?.checkError(answer);
}

/**
 * Every answer that a test gets of the public listener goes through here, whichever way it came (`HttpClient`, `ServiceConnection`;
 * test/architecture/checked-answers.test.ts looks for others): at an address of the document it is what the document says.
 *
 * Not held against it is what has nothing to do with the API: addresses that are not in the document (see `DocumentCheck.check`),
 * the operations listener, which has no document, and what an engine writes by itself (see `ServiceConnection`). Of browsers
 * one test holds what they are answered (test/widget/as-documented.test.ts); the others are about what pages do with it, and some
 * put answers of their own in its place.
 */
export function checkAgainstDocuments(asked: Asked, answer: Answer): void {
  const segment = /^\/v1\/([^/?]+)\//.exec(asked.path)?.[1];
  // The addresses for browsers are the same for all verticals, and so is what the documents say of them.
  documentCheck(segment ?? personalLoans.segment)?.check(asked, answer);
}
