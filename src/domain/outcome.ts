import type { ErrorCode } from './errors.ts';
import { type RequestParam, requestRules } from './errors.ts';

/** An element of `fields_invalid` in a response (docs/contract.md#submitting-fields). */
export interface InvalidField {
  readonly field: string;
  readonly code: 'type' | 'enum' | 'range' | 'format' | 'min_age';
  readonly message: string;
  readonly min?: number;
  readonly max?: number;
  readonly allowed?: readonly (string | number | boolean)[];
}

/** The error of a rejected request. `errorTable` has the status and message of each code. */
export interface ApiError {
  readonly code: ErrorCode;
  /** Name of the invalid member, parameter or header (INVALID_REQUEST): always a documented name, never text of the request. */
  readonly param?: string;
  /** Valid values, as the end of a sentence that starts with `param` (INVALID_REQUEST). Contains no text of the request. */
  readonly rule?: string;
  /** Names of missing required fields (INSUFFICIENT_INPUTS). */
  readonly missingRequired?: readonly string[];
  readonly fieldsInvalid?: readonly InvalidField[];
  /** Seconds until a retry may succeed, an integer of at least 1 (RATE_LIMIT_EXCEEDED, SERVICE_UNAVAILABLE). */
  readonly retryAfterSeconds?: number;
  /** Whether the request may still take effect (SERVICE_UNAVAILABLE, docs/contract.md#uncertain-outcomes). */
  readonly outcomeUnknown?: boolean;
}

export interface Failure {
  readonly ok: false;
  readonly error: ApiError;
}

/** Result of an operation. Exceptions are for bugs and system errors only. */
export type Outcome<Value> = { readonly ok: true; readonly value: Value } | Failure;

export function succeeded<Value>(value: Value): Outcome<Value> {
  return { ok: true, value };
}

export function failed(error: ApiError): Failure {
  return { ok: false, error };
}

export function failedWith(code: ErrorCode): Failure {
  return failed({ code });
}

export function invalidRequest(param: RequestParam, rule: string = requestRules[param]): Failure {
  return failed({ code: 'INVALID_REQUEST', param, rule });
}

/** Creates the error for a record that is not durable. `taken` means that the log has accepted the record and may still write it. */
export function notDurable(retryAfterSeconds: number, taken: boolean): Failure {
  return failed({ code: 'SERVICE_UNAVAILABLE', retryAfterSeconds, outcomeUnknown: taken });
}

export function unavailable(retryAfterSeconds: number): Failure {
  return failed({ code: 'SERVICE_UNAVAILABLE', retryAfterSeconds });
}
