import { wwwAuthenticate } from '../../auth/api-key.ts';
import { type ErrorCode, errorTable, operatorTokenRequiredMessage } from '../../domain/errors.ts';
import type { InvalidField, Refusal } from '../../domain/outcome.ts';
import type { Reply, RequestContext } from '../engines/listener.ts';
import { formatHeader, formatHeaders, type HeaderText } from '../engines/response-head.ts';

/** Of every answer in JSON: no cache may keep what was told to one caller. */
export const jsonHeaders = formatHeaders({ 'Content-Type': 'application/json', 'Cache-Control': 'no-store' });
const authenticateHeaders = formatHeaders({ 'WWW-Authenticate': wwwAuthenticate });

/** Bodies without extra members, written once: a refusal should cost next to nothing. */
const constantErrorBodies = new Map<ErrorCode, string>(
  (Object.keys(errorTable) as ErrorCode[]).map((code) => [code, JSON.stringify(errorBody({ code }))]),
);

/** Members of the JSON body of an error. */
export interface ErrorBody {
  readonly error: ErrorCode;
  readonly message: string;
  readonly param?: string;
  readonly missing_required?: readonly string[];
  readonly fields_invalid?: readonly InvalidField[];
  readonly request_id?: string;
}

/** The JSON body of an error (docs/contract.md#error-body): `error`, `message`, and at most one extra member. */
export function errorBody(refusal: Refusal, requestId?: string): ErrorBody {
  const { code, param, rule, missingRequired, fieldsInvalid } = refusal;
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

const operatorTokenRequiredBody = JSON.stringify({
  error: 'UNAUTHORIZED',
  message: operatorTokenRequiredMessage,
} satisfies ErrorBody);

/** A request that lacks the operator's token, as an HTTP answer. */
export function operatorTokenRequiredReply(): Reply {
  const refusal: Refusal = { code: 'UNAUTHORIZED' };
  return {
    status: errorTable.UNAUTHORIZED.status,
    headers: jsonHeaders + authenticateHeaders,
    refusal,
    body: operatorTokenRequiredBody,
  };
}

/** A refusal as an HTTP answer. */
export function errorReply(refusal: Refusal, requestId: string, extraHeaders: HeaderText = ''): Reply {
  const { code, param, missingRequired, fieldsInvalid, retryAfterSeconds } = refusal;
  const plain =
    param === undefined && missingRequired === undefined && fieldsInvalid === undefined && code !== 'INTERNAL_ERROR';
  const retryAfter = retryAfterSeconds === undefined ? '' : formatHeader('Retry-After', String(retryAfterSeconds));
  return {
    status: errorTable[code].status,
    headers: jsonHeaders + extraHeaders + retryAfter + (code === 'UNAUTHORIZED' ? authenticateHeaders : ''),
    refusal,
    body: plain ? constantErrorBodies.get(code)! : JSON.stringify(errorBody(refusal, requestId)),
  };
}

/** The Allow header of what can only be read. */
export const allowReadHeaders = formatHeaders({ Allow: 'GET, HEAD, OPTIONS' });

/** Has GET and HEAD answered; OPTIONS is told so, and anything else refused. */
export function respondToRead(exchange: RequestContext, answer: () => void | Promise<void>): void | Promise<void> {
  const { method } = exchange;
  if (method === 'GET' || method === 'HEAD') return answer();
  if (method === 'OPTIONS') exchange.reply({ status: 204, headers: allowReadHeaders, body: '' });
  else exchange.reply(errorReply({ code: 'METHOD_NOT_ALLOWED' }, exchange.requestId, allowReadHeaders));
}
