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

/** Every answer that a test gets goes through here: those at a vertical's addresses are what its document says. */
export function checkAgainstDocuments(asked: Asked, answer: Answer): void {
  const segment = /^\/v1\/([^/?]+)\//.exec(asked.path)?.[1];
  // The addresses for browsers are the same for all verticals, and so is what the documents say of them.
  documentCheck(segment ?? personalLoans.segment)?.check(asked, answer);
}
