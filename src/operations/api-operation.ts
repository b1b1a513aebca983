import type { TSchema } from 'typebox';
import type { AuditActor } from '../audit/audit-log.ts';
import type { OperationAccess } from '../auth/authenticator.ts';
import type { Caller, QuotaReservation } from '../auth/key-usage.ts';
import { bounds } from '../bounds.ts';
import type { VerticalWithProduct } from '../catalogs/product.ts';
import type { CancelSignal } from '../domain/async.ts';
import type { ErrorCode, RequestParamName } from '../domain/errors.ts';
import { type Failure, invalidRequest, type Outcome } from '../domain/outcome.ts';
import { isVisibleAscii } from '../domain/text.ts';
import type { CsvPage } from './csv-table.ts';
import {
  MemberValidator,
  type MemberValues,
  type ParameterTexts,
  type RequestMembers,
  type VerticalRules,
} from './request-members.ts';
import type { IgnoredParameters } from './schema-parts.ts';

/** Examples in the OpenAPI document, by name. `recorded` is the name of a recorded example in `src/openapi/examples/`. */
export type OperationExamples = Readonly<Record<string, { readonly recorded: string; readonly summary?: string }>>;

interface RequestBody<Members extends RequestMembers> {
  /** Name of the schema of the body in the OpenAPI document. */
  readonly title: string;
  readonly members: Members;
  readonly examples?: OperationExamples;
}

/**
 * Definition of one operation of the API. The HTTP route, the embedded API, the validation of requests, the names that are not reported as
 * ignored, and the OpenAPI document follow from the definition.
 */
export interface OperationDefinition<Deps, Parameters extends RequestMembers, Body extends RequestMembers, Result>
  extends OperationAccess {
  /** Name in the OpenAPI document, such as `createSession`. */
  readonly id: string;
  /** A path that allows GET also allows HEAD. */
  readonly method: 'GET' | 'POST' | 'PUT' | 'DELETE';
  /** Path below `/v1/<vertical>`. A segment in braces is a path parameter, such as in `/experiments/{name}`. */
  readonly path: string;
  readonly summary: string;
  readonly description: string;
  /** Path parameters and query parameters, in the order of their checks and of the OpenAPI document. */
  readonly parameters?: Parameters;
  readonly body?: RequestBody<Body>;
  readonly response: {
    readonly description: string;
    readonly schema: TSchema | ((vertical: VerticalWithProduct) => TSchema);
    readonly examples?: OperationExamples;
    /** Description and examples of an HTML response; absent if the response is always JSON. */
    readonly html?: { readonly description: string; readonly examples: OperationExamples };
    /** Description and examples of a CSV response; absent if the operation has no `createCsvPage`. */
    readonly csv?: { readonly description: string; readonly examples: OperationExamples };
  };
  /** Error codes of the operation, without those that every operation with such a request has. */
  readonly errors: readonly ErrorCode[];
  /** Value of `param` in the example of INVALID_REQUEST. */
  readonly invalidParamExample: RequestParamName;
  /** Whether the caller has already used an Idempotency-Key; absent if the operation does not accept the header `Idempotency-Key`. */
  isRepeat?(deps: Deps, caller: Caller, idempotencyKey: string): boolean;
  /**
   * Parses valid parameters faster than the parser that is derived from `parameters`; null for texts that the derived parser must parse or
   * reject. Only for an operation without a body on which the throughput of the service depends.
   */
  parseValidTexts?(texts: ParameterTexts, vertical: VerticalRules): MemberValues<Parameters> | null;
  /** Runs the operation. `input` contains the values of the parameters and the members of the body. */
  handle(
    deps: Deps,
    input: MemberValues<Parameters> & MemberValues<Body>,
    request: ApiRequest,
  ): Outcome<Result> | Promise<Outcome<Result>>;
  /** Creates the response to a request from its result; absent if the result is the response. */
  createResponse?(result: Result, deps: Deps): object;
  /** Renders the response as JSON text; absent if the text is `JSON.stringify` of the response. */
  renderJson?(result: Result, deps: Deps, ignored: readonly string[]): string;
  /** Renders the response as HTML, for clients that do not prefer JSON; null if the response is always JSON. */
  renderHtml?(result: Result): string | null;
  /** Returns the response as a table, for clients that prefer CSV to JSON; null for a result that is always JSON. */
  createCsvPage?(result: Result): CsvPage | null;
  /** Whether an earlier request with the same Idempotency-Key had this result. */
  isReplayed?(result: Result): boolean;
}

/** A request to an operation, except its input. The caller is authenticated and within its rate limits. */
export interface ApiRequest {
  readonly caller: Caller;
  /** How the caller sent the request, for the audit log. */
  readonly actorKind: Extract<AuditActor['kind'], 'partner_key' | 'partner_console' | 'embedding_program'>;
  /** Reservation of one session in the daily session limit; null for operations that create no session, and for a repeated request. */
  readonly quotaReservation: QuotaReservation | null;
  readonly idempotencyKey: string | null;
  /** False for a HEAD request, whose response has no body. */
  readonly hasResponseBody: boolean;
  /** Signal that cancels the request; null if the caller cannot cancel. */
  readonly signal: CancelSignal | null;
}

/** An operation with validators for its requests. */
export interface ApiOperation<Deps = never, Input = never, Result = unknown>
  extends Omit<OperationDefinition<Deps, RequestMembers, RequestMembers, Result>, 'handle' | 'parseValidTexts'> {
  parseValidTexts?(texts: ParameterTexts, vertical: VerticalRules): unknown;
  handle(deps: Deps, input: Input, request: ApiRequest): Outcome<Result> | Promise<Outcome<Result>>;
  readonly parameterValidator: MemberValidator;
  readonly bodyValidator: MemberValidator | null;
  readonly pathParameters: readonly string[];
  readonly queryParameters: readonly string[];
  /** Names of the parameters and members that the operation knows. */
  readonly knownNames: readonly string[];
}

export function defineOperation<
  Deps,
  Result,
  Parameters extends RequestMembers = Readonly<Record<never, never>>,
  Body extends RequestMembers = Readonly<Record<never, never>>,
>(
  definition: OperationDefinition<Deps, Parameters, Body, Result>,
): ApiOperation<Deps, MemberValues<Parameters> & MemberValues<Body>, Result> {
  const { path, parameters = {}, body } = definition;
  const parameterValidator = new MemberValidator<RequestMembers>(parameters);
  const pathParameters = [...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => name!);
  const bodyValidator = body === undefined ? null : new MemberValidator<RequestMembers>(body.members);
  return {
    ...definition,
    parameterValidator,
    bodyValidator,
    pathParameters,
    queryParameters: parameterValidator.names.filter((name) => !pathParameters.includes(name)),
    knownNames: [...parameterValidator.names, ...(bodyValidator?.names ?? [])],
  };
}

/** Type of the input of an operation. */
export type InputOf<Operation> = Operation extends ApiOperation<never, infer Input> ? Input : never;

/**
 * Validates a request in the order of docs/contract.md#order-of-checks, and runs the operation. If a check fails, releases the request's
 * reservation in the daily session limit.
 *
 * @param body parsed JSON body; ignored if the operation has no body
 */
export function runOperation<Deps, Input, Result>(
  operation: ApiOperation<Deps, Input, Result>,
  deps: Deps,
  texts: ParameterTexts,
  body: unknown,
  request: ApiRequest,
): Outcome<Result> | Promise<Outcome<Result>> {
  const { idempotencyKey, caller } = request;
  if (idempotencyKey !== null && !isIdempotencyKey(idempotencyKey)) {
    return rejectAdmitted(request, invalidRequest('Idempotency-Key'));
  }
  const { vertical } = caller;
  const parsed = operation.parseValidTexts?.(texts, vertical) ?? null;
  if (parsed !== null) return operation.handle(deps, parsed as Input, request);
  const parameters = operation.parameterValidator.parseTexts(texts, vertical);
  if (!parameters.ok) return rejectAdmitted(request, parameters);
  if (operation.bodyValidator === null) return operation.handle(deps, parameters.value as Input, request);
  const invalidMember = operation.bodyValidator.findInvalidMember(body, vertical);
  if (invalidMember !== null) return rejectAdmitted(request, invalidMember);
  const input = operation.parameterValidator.names.length === 0 ? body : { ...(body as object), ...parameters.value };
  return operation.handle(deps, input as Input, request);
}

export function isIdempotencyKey(text: string): boolean {
  return isVisibleAscii(text, bounds.idempotencyKeyCharactersMax);
}

/** Releases the reservation of a rejected request in the daily session limit of the API key. Returns `failure`. */
export function rejectAdmitted({ quotaReservation }: Pick<ApiRequest, 'quotaReservation'>, failure: Failure): Failure {
  quotaReservation?.release();
  return failure;
}

/** Adds `names` to the member `ignored` of a response. */
export function reportIgnoredParameters<View extends object>(
  view: View & IgnoredParameters,
  names: readonly string[],
): View & IgnoredParameters {
  return names.length === 0 ? view : { ...view, ignored: [...(view.ignored ?? []), ...names] };
}
