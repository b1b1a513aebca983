import { type ErrorCode, errorTable } from './errors.ts';
import type { ApiError, InvalidField } from './outcome.ts';

/** Members of the JSON body of an error. */
export interface ErrorBody {
  readonly error: ErrorCode;
  readonly message: string;
  readonly param?: string;
  readonly missing_required?: readonly string[];
  readonly fields_invalid?: readonly InvalidField[];
  readonly request_id?: string;
}

/** Creates the JSON body of an error (docs/contract.md#error-body): `error`, `message`, and at most one more member. */
export function errorBody(error: ApiError, requestId?: string): ErrorBody {
  const { code, param, rule, missingRequired, fieldsInvalid } = error;
  const subject = param === 'body' ? 'The request body' : param;
  return {
    error: code,
    message: rule === undefined ? errorTable[code].message : `${subject} ${rule}.`,
    ...(param !== undefined && { param }),
    ...(missingRequired !== undefined && { missing_required: missingRequired }),
    ...(fieldsInvalid !== undefined && { fields_invalid: fieldsInvalid }),
    ...(code === 'INTERNAL_ERROR' && requestId !== undefined && { request_id: requestId }),
  };
}
