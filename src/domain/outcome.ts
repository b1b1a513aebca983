import type { ErrorCode } from './errors.ts';
import { type RequestParam, requestRules } from './errors.ts';

/** One element of `fields_invalid` (docs/contract.md#submitting-fields). */
export interface InvalidField {
  readonly field: string;
  readonly code: 'type' | 'enum' | 'range' | 'format' | 'min_age';
  readonly message: string;
  readonly min?: number;
  readonly max?: number;
  readonly allowed?: readonly (string | number | boolean)[];
}

/** Why an operation did not do what was asked: an expected outcome, not an exception. `code` finds status and message. */
export interface Refusal {
  readonly code: ErrorCode;
  /** The member, parameter or header at fault (INVALID_REQUEST). Always a name of ours, never one of the caller's. */
  readonly param?: string;
  /** What `param` may be, as the end of a sentence that begins with it (INVALID_REQUEST). Holds nothing of the request. */
  readonly rule?: string;
  /** Required pocket fields that the session lacks (INSUFFICIENT_INPUTS). */
  readonly missingRequired?: readonly string[];
  readonly fieldsInvalid?: readonly InvalidField[];
  /** Whole seconds, at least 1 (RATE_LIMIT_EXCEEDED, SERVICE_UNAVAILABLE). */
  readonly retryAfterSeconds?: number;
  /** The request may have taken effect all the same (SERVICE_UNAVAILABLE, docs/contract.md#uncertain-outcomes). */
  readonly outcomeUnknown?: boolean;
}

/** What an operation comes to: its value, or the reason why not. Exceptions are left for bugs and broken machines. */
export type Outcome<Value> =
  | { readonly ok: true; readonly value: Value }
  | { readonly ok: false; readonly refusal: Refusal };

export function succeeded<Value>(value: Value): Outcome<Value> {
  return { ok: true, value };
}

export function refused(refusal: Refusal): { readonly ok: false; readonly refusal: Refusal } {
  return { ok: false, refusal };
}

export function refusedWith(code: ErrorCode): { readonly ok: false; readonly refusal: Refusal } {
  return refused({ code });
}

export function invalidRequest(
  param: RequestParam,
  rule: string = requestRules[param],
): { readonly ok: false; readonly refusal: Refusal } {
  return refused({ code: 'INVALID_REQUEST', param, rule });
}

/** What was asked for is not known to be on disk: `taken` says whether it may get there all the same. */
export function notDurable(
  retryAfterSeconds: number,
  taken: boolean,
): { readonly ok: false; readonly refusal: Refusal } {
  return refused({ code: 'SERVICE_UNAVAILABLE', retryAfterSeconds, outcomeUnknown: taken });
}

export function unavailable(retryAfterSeconds: number): { readonly ok: false; readonly refusal: Refusal } {
  return refused({ code: 'SERVICE_UNAVAILABLE', retryAfterSeconds });
}
