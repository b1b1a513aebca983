import type { AuditActor } from '../../../audit/audit-log.ts';
import type { CancelSignal } from '../../../domain/async.ts';
import type { Outcome, ServiceProblem } from '../../../domain/outcome.ts';
import type { RequestContext } from '../../engines/listener.ts';
import type { Reply } from '../../engines/response-head.ts';
import { errorReply, jsonHeaders } from '../replies.ts';
import { decodePathSegment, isJsonMediaType, parseJsonBody } from '../request-parsing.ts';
import { allowedMethods, type OperationsRouteName, replyNotFound, restrictMethods } from '../routing.ts';

/** Request of an operator that passed the checks of method and operator token. */
export interface OperatorRequest {
  /** Who sent the request, for the audit log. */
  readonly actor: AuditActor;
  /** URL query as the client sent it, without the question mark. */
  readonly query: string;
  /** Decoded texts of the segments in braces of the path. */
  readonly segments: readonly string[];
  readonly signal: CancelSignal;
  /** Logs why a part of the answer is missing. */
  readonly logIncompleteAnswer: (problem: ServiceProblem) => void;
}

type OperatorOutcome = Outcome<unknown> | Promise<Outcome<unknown>>;

/** Endpoint of the operations listener that needs the operator token. Each method returns the JSON response or an error. */
export interface OperatorRoute {
  /** Path, with segments in braces for its parameters, such as `/keys/{id}`. */
  readonly path: string;
  /** Route name in logs. */
  readonly name: OperationsRouteName;
  GET?(request: OperatorRequest): OperatorOutcome;
  /** `text` is the JSON text of `body`. */
  POST?(body: unknown, text: string, request: OperatorRequest): OperatorOutcome;
  DELETE?(request: OperatorRequest): OperatorOutcome;
  /** Status of the response to a valid POST request; 200 by default. */
  readonly postStatus?: number;
}

const methodsInOrder = ['GET', 'POST', 'DELETE'] as const;

/**
 * Checks whether a request is from the operator, who has sent the operator token or the cookie of a login at the console. Returns null for
 * the operator, and otherwise the reply to the request.
 */
export type OperatorCheck = (context: RequestContext) => Reply | null;

/**
 * Creates the handler of an operator route. The handler first checks the HTTP method, then the operator, and then the JSON body of a POST
 * request.
 *
 * @param actor the operator who passes the check, for the audit log
 */
export function operatorHandler(
  route: OperatorRoute,
  checkOperator: OperatorCheck,
  actor: AuditActor,
): (context: RequestContext, segments: readonly string[]) => void | Promise<void> {
  const methods = allowedMethods(...methodsInOrder.filter((method) => route[method] !== undefined));
  return restrictMethods(methods, (context, segments: readonly string[]) => {
    const rejection = checkOperator(context);
    if (rejection !== null) return context.reply(rejection);
    const decoded = segments.map(decodePathSegment);
    if (!decoded.every((segment) => segment !== null)) return replyNotFound(context);
    const request: OperatorRequest = {
      actor,
      query: context.query,
      segments: decoded,
      signal: context,
      logIncompleteAnswer: (problem) => context.logIncompleteAnswer(problem),
    };
    if (context.method === 'DELETE') return sendOutcome(context, route.DELETE!(request));
    if (context.method !== 'POST') return sendOutcome(context, route.GET!(request));
    const isJson = isJsonMediaType(context.getRequestHeader('content-type'));
    context.readBody((bytes) => {
      const body = parseJsonBody(isJson, bytes);
      return sendOutcome(
        context,
        body.ok ? route.POST!(body.value, bytes.toString(), request) : body,
        route.postStatus,
      );
    });
  });
}

async function sendOutcome(context: RequestContext, outcome: OperatorOutcome, status = 200): Promise<void> {
  const settled = await outcome;
  if (settled.ok) sendJson(context, settled.value, status);
  else context.reply(errorReply(settled.error, context.requestId));
}

export function sendJson(context: RequestContext, value: unknown, status = 200): void {
  context.reply({ status, headers: jsonHeaders, body: `${JSON.stringify(value)}\n` });
}
