import { type ErrorCode, errorTable, operatorTokenRequiredMessage } from '../../domain/errors.ts';
import { type ApiError, createErrorBody, type ErrorBody } from '../../domain/outcome.ts';
import { formatHeader, formatHeaders, type HeaderText, type Reply } from '../engines/response-head.ts';

/** Headers of every JSON response. Caches must not store JSON responses, because each response is meant for one caller. */
export const jsonHeaders = formatHeaders({ 'Content-Type': 'application/json', 'Cache-Control': 'no-store' });
/** Header of every response with status 401 (RFC 9110, section 11.6.1). */
const authenticateHeaders = formatHeader('WWW-Authenticate', 'Bearer');

/** JSON bodies of errors that consist only of an error code, created once instead of for each response. */
const constantErrorBodies = new Map<ErrorCode, string>(
  (Object.keys(errorTable) as ErrorCode[]).map((code) => [code, JSON.stringify(createErrorBody({ code }))]),
);

const operatorTokenRequiredBody = JSON.stringify({
  error: 'UNAUTHORIZED',
  message: operatorTokenRequiredMessage,
} satisfies ErrorBody);

export function operatorTokenRequiredReply(): Reply {
  const error: ApiError = { code: 'UNAUTHORIZED' };
  return {
    status: errorTable.UNAUTHORIZED.status,
    headers: jsonHeaders + authenticateHeaders,
    error,
    body: operatorTokenRequiredBody,
  };
}

export function errorReply(error: ApiError, requestId: string, extraHeaders: HeaderText = ''): Reply {
  const { code, param, missingRequired, fieldsInvalid, retryAfterSeconds, message } = error;
  const isConstant =
    param === undefined &&
    missingRequired === undefined &&
    fieldsInvalid === undefined &&
    message === undefined &&
    code !== 'INTERNAL_ERROR';
  const retryAfter = retryAfterSeconds === undefined ? '' : formatHeader('Retry-After', String(retryAfterSeconds));
  return {
    status: errorTable[code].status,
    headers: jsonHeaders + extraHeaders + retryAfter + (code === 'UNAUTHORIZED' ? authenticateHeaders : ''),
    error,
    body: isConstant ? constantErrorBodies.get(code)! : JSON.stringify(createErrorBody(error, requestId)),
  };
}
