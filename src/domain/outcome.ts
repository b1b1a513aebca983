import {
  auditLogUnavailableMessage,
  catalogArchiveUnavailableMessage,
  catalogComparisonRunningMessage,
  type ErrorCode,
  errorTable,
  paramErrorTexts,
  type RequestParamName,
} from './errors.ts';

/** An element of `fields_invalid` in a response (docs/contract.md#submitting-fields). */
export interface InvalidField {
  readonly field: string;
  readonly code: 'type' | 'enum' | 'range' | 'format' | 'min_age';
  readonly message: string;
  readonly min?: number;
  readonly max?: number;
  readonly allowed?: readonly (string | number | boolean)[];
}

/** Error of a rejected request. `errorTable` contains the status and message of each code. */
export interface ApiError {
  readonly code: ErrorCode;
  /** Documented name of the invalid member, parameter or header (INVALID_REQUEST). `param` is never copied from the request. */
  readonly param?: string;
  /**
   * Rule for valid values, such as `must be live or test` (INVALID_REQUEST). The error message is `param` followed by the rule. The rule
   * contains no text of the request.
   */
  readonly rule?: string;
  /** Names of missing required fields (INSUFFICIENT_INPUTS). */
  readonly missingRequired?: readonly string[];
  readonly fieldsInvalid?: readonly InvalidField[];
  /** Number of seconds until a retry may succeed, an integer of at least 1 (RATE_LIMIT_EXCEEDED, TOO_MANY_LOGINS, SERVICE_UNAVAILABLE). */
  readonly retryAfterSeconds?: number;
  /** Constant message that replaces the message of the code. */
  readonly message?: string;
  /** Whether the request may take effect despite the error (SERVICE_UNAVAILABLE, docs/contract.md#uncertain-outcomes). */
  readonly outcomeUnknown?: boolean;
  /** Why the service failed and what the operator can do, for the log only. */
  readonly problem?: ServiceProblem;
}

/** Problem of the service, for its log. */
export interface ServiceProblem {
  /** Constant text: what failed, and what the operator can do. */
  readonly text: string;
  /** Exception that caused the problem; absent if there was none. */
  readonly cause?: unknown;
}

export interface Failure {
  readonly ok: false;
  readonly error: ApiError;
}

/** Success value or error of an operation. Exceptions are only for bugs and system errors. */
export type Outcome<Value> = { readonly ok: true; readonly value: Value } | Failure;

/** Type of the value of an operation that succeeds, from the type of its outcome or of the promise of its outcome. */
export type SuccessValue<Result> =
  Extract<Awaited<Result>, { readonly ok: true }> extends { readonly value: infer Value } ? Value : never;

export function successOutcome<Value>(value: Value): Outcome<Value> {
  return { ok: true, value };
}

export function failureOutcome(error: ApiError): Failure {
  return { ok: false, error };
}

export function failureOutcomeWithCode(code: ErrorCode): Failure {
  return failureOutcome({ code });
}

export function invalidRequest(param: RequestParamName, rule: string = paramErrorTexts[param]): Failure {
  return failureOutcome({ code: 'INVALID_REQUEST', param, rule });
}

/** Creates the error for a record that the log refused or has not made durable yet. `taken` is false if the log refused the record. */
export function durabilityFailure(retryAfterSeconds: number, taken: boolean): Failure {
  return failureOutcome({ code: 'SERVICE_UNAVAILABLE', retryAfterSeconds, outcomeUnknown: taken });
}

export function serviceUnavailable(retryAfterSeconds: number, problem?: ServiceProblem): Failure {
  return failureOutcome({
    code: 'SERVICE_UNAVAILABLE',
    retryAfterSeconds,
    ...(problem !== undefined && { problem }),
  });
}

/** Creates the error for a change of an operator that cannot be recorded in the audit log, and was therefore refused. */
export function auditLogUnavailable(retryAfterSeconds: number): Failure {
  return failureOutcome({
    code: 'SERVICE_UNAVAILABLE',
    retryAfterSeconds,
    message: auditLogUnavailableMessage,
    problem: { text: 'change refused; see the log line "audit log could not be written"' },
  });
}

/** Creates the error for two versions of a catalog that cannot be compared. */
export function catalogArchiveUnavailable(retryAfterSeconds: number, cause: unknown): Failure {
  const text =
    'versions of a catalog cannot be compared; if an archived file is damaged, restore it from a backup or change the catalog';
  return failureOutcome({
    code: 'SERVICE_UNAVAILABLE',
    retryAfterSeconds,
    message: catalogArchiveUnavailableMessage,
    problem: { text, cause },
  });
}

/** Creates the error for two versions of a catalog whose comparison takes longer than a request. */
export function catalogComparisonRunning(retryAfterSeconds: number): Failure {
  return failureOutcome({
    code: 'SERVICE_UNAVAILABLE',
    retryAfterSeconds,
    message: catalogComparisonRunningMessage,
    problem: { text: 'versions of a catalog are still being compared; a later request gets the result' },
  });
}

export interface ErrorBody {
  readonly error: ErrorCode;
  readonly message: string;
  readonly param?: string;
  readonly missing_required?: readonly string[];
  readonly fields_invalid?: readonly InvalidField[];
  readonly request_id?: string;
}

/** Creates the JSON body of an error (docs/contract.md#error-body): `error`, `message`, and at most one more member. */
export function createErrorBody(error: ApiError, requestId?: string): ErrorBody {
  const { code, param, rule, missingRequired, fieldsInvalid, message = errorTable[code].message } = error;
  const subject = param === 'body' ? 'The request body' : param;
  return {
    error: code,
    message: rule === undefined ? message : `${subject} ${rule}.`,
    ...(param !== undefined && { param }),
    ...(missingRequired !== undefined && { missing_required: missingRequired }),
    ...(fieldsInvalid !== undefined && { fields_invalid: fieldsInvalid }),
    ...(code === 'INTERNAL_ERROR' && requestId !== undefined && { request_id: requestId }),
  };
}
