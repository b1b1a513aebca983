import assert from 'node:assert/strict';
import { Ajv2020 } from 'ajv/dist/2020.js';
import addFormats from 'ajv-formats';
import { decodeSubId } from '../../src/ids/sub-id.ts';
import { personalLoans, type Vertical } from '../../src/index.ts';
import { type OpenApiDocument, openApiDocument } from '../../src/openapi/openapi-document.ts';
import type { OpenApiOperation, OpenApiResponse, PathItem, SchemaReference } from '../../src/openapi/openapi-types.ts';
import { builtInVerticals } from '../../src/verticals/built-in-verticals.ts';
import type { ErrorBody } from './api-caller.ts';
import { equipmentLeases } from './equipment-leases.ts';
import type { HttpRequest, HttpResponse } from './http-client.ts';

const checksBySegment = new Map<string, DocumentCheck>();

/** Returns the check of a vertical's OpenAPI document. Each process creates the check once. */
export function documentCheckFor(segment: string): DocumentCheck | undefined {
  const vertical = [...builtInVerticals.verticals, equipmentLeases].find((each) => each.segment === segment);
  if (vertical !== undefined && !checksBySegment.has(segment))
    checksBySegment.set(segment, new DocumentCheck(vertical));
  return checksBySegment.get(segment);
}

/** Checks an error response to a request that an HTTP client cannot send. */
export function checkErrorOfInvalidRequest(answer: HttpResponse): void {
  documentCheckFor(personalLoans.segment)?.checkError(answer);
}

/**
 * Checks a response of the public listener against the OpenAPI document. `HttpClient` calls this function for every response, and
 * test/architecture/tidiness.test.ts rejects other clients than `HttpClient` and `ServiceConnection` in tests of the API.
 *
 * The check skips paths that are not in the document (see `DocumentCheck.check`), the operations listener, which has no
 * document, and error responses that an engine generates (see `ServiceConnection`). Only test/widget/widget-embedding.test.ts
 * checks the requests of browsers. Other browser tests are about the pages, and some of them replace responses.
 */
export function checkAgainstDocuments(asked: HttpRequest, answer: HttpResponse): void {
  const segment = /^\/v1\/([^/?]+)\//.exec(asked.path)?.[1];
  documentCheckFor(segment ?? findSegmentOfSession(asked.path) ?? personalLoans.segment)?.check(asked, answer);
}

/** Returns the segment of the vertical of the sub_id in a path for browsers; undefined if the path has no sub_id. */
function findSegmentOfSession(path: string): string | undefined {
  const [, digits] = /[?&]sub=sub_([0-9a-f]{64})/.exec(path) ?? [];
  if (digits === undefined) return undefined;
  const { vertical } = decodeSubId(Buffer.from(digits, 'hex'));
  return builtInVerticals.verticals.find(({ number }) => number === vertical)?.segment;
}

const origin = 'http://127.0.0.1:8080';
const urls = { public: origin, click: origin, widget: `${origin}/w`, cdn: `${origin}/cdn` };

/** Headers that every HTTP service sends, and headers that affect only browsers. */
const ordinaryHeaders = new Set([
  ...['date', 'connection', 'keep-alive', 'transfer-encoding', 'cache-control', 'etag', 'vary'],
  ...['content-type', 'content-length', 'content-encoding', 'content-security-policy'],
  ...['cross-origin-resource-policy', 'referrer-policy', 'x-content-type-options', 'x-robots-tag'],
]);

/**
 * Checks requests and responses against the OpenAPI document of a vertical. Reports responses that the document does not
 * describe and accepted requests that the document does not allow.
 */
class DocumentCheck {
  readonly document: OpenApiDocument;
  readonly #basePath: string;
  readonly #checkedResponses = new Set<string>();
  /** Schemas that reject unknown members of responses. Requests may have unknown members. */
  readonly #responseSchemas: Schemas;
  readonly #requestSchemas: Schemas;

  constructor(vertical: Vertical) {
    this.document = openApiDocument(builtInVerticals.withProduct(vertical), urls);
    this.#basePath = `/v1/${vertical.segment}`;
    this.#responseSchemas = new Schemas(rejectUnknownMembers(this.document) as OpenApiDocument);
    this.#requestSchemas = new Schemas(this.document);
  }

  /** Every `operationId status` in the document, and for errors every code. */
  get documentedResponses(): readonly string[] {
    return Object.values(this.document.paths).flatMap((item) =>
      operationsOf(item).flatMap(([, { operationId, responses }]) =>
        Object.entries(responses).flatMap(([status, response]) => {
          const codes = errorCodesOf(status, this.#resolveReference(response));
          return (codes ?? ['']).map((code) => `${operationId} ${status} ${code}`.trimEnd());
        }),
      ),
    );
  }

  /** Statuses and codes of the responses that were checked so far. */
  get checkedResponses(): ReadonlySet<string> {
    return this.#checkedResponses;
  }

  /** Checks an error without its request. Its status must be the documented status of its code, except for unknown paths. */
  checkError({ status, text }: HttpResponse): void {
    const body: unknown = JSON.parse(text);
    this.#responseSchemas.assertValid(['components', 'schemas', 'Error'], body, `the body of ${status}`);
    const { error } = body as ErrorBody;
    const isKnown = this.documentedResponses.some((each) => each.endsWith(` ${status} ${error}`));
    assert.ok(isKnown || error === 'NOT_FOUND', `the document does not contain ${status} ${error}`);
  }

  /**
   * Checks a response and its request. Skips paths that are not in the document: the document and its reference page, logos,
   * the landing page of sandbox clicks, and unknown paths. These paths are not part of the API and have their own tests.
   */
  check(asked: HttpRequest, answer: HttpResponse): void {
    const { method = 'GET' } = asked;
    const mark = asked.path.indexOf('?');
    const address = mark < 0 ? asked.path : asked.path.slice(0, mark);
    const query = mark < 0 ? '' : asked.path.slice(mark + 1);
    const path = address.startsWith(`${this.#basePath}/`) ? address.slice(this.#basePath.length) : address;
    const template = findPathTemplate(Object.keys(this.document.paths), path);
    const item = template === undefined ? undefined : this.document.paths[template];
    // The operations exist only below the base path, and the paths for browsers only at the root.
    if (template === undefined || item === undefined || (path === address) !== (item.servers !== undefined)) return;
    // A service may not serve all verticals with a document.
    const wanted = method === 'HEAD' ? 'get' : method.toLowerCase();
    const [verb, operation] =
      operationsOf(item).find(([name]) => name === wanted) ?? (operationsOf(item)[0] as [string, OpenApiOperation]);
    if (isUnknownPath(answer) && !this.documentedResponses.includes(`${operation.operationId} 404 NOT_FOUND`)) return;
    if (method === 'OPTIONS' && (answer.status === 204 || !isForAllowedOrigins(item))) {
      assert.deepEqual([answer.status, answer.text], [204, '']);
      assertAllow(answer, item);
      return;
    }
    if (answer.status === 405) {
      assertAllow(answer, item);
      for (const [name, each] of operationsOf(item)) {
        this.#checkResponse(each, ['paths', template, name, 'responses'], asked, answer);
      }
      return;
    }
    const where = ['paths', template, verb, 'responses'];
    this.#checkResponse(operation, where, asked, answer);
    if (answer.status < 300) this.#checkRequest(operation, ['paths', template, verb], asked, query);
  }

  #checkResponse(
    operation: OpenApiOperation,
    where: readonly string[],
    asked: HttpRequest,
    answer: HttpResponse,
  ): void {
    const status = String(answer.status) in operation.responses ? String(answer.status) : 'default';
    const documented = operation.responses[status];
    const what = `${operation.operationId} ${answer.status}`;
    assert.ok(documented !== undefined, `the document does not contain ${what}: ${answer.text}`);
    const place = '$ref' in documented ? documented.$ref.split('/').slice(1) : [...where, status];
    const response = this.#resolveReference(documented);
    this.#checkHeaders(response, [...place, 'headers'], answer, what);

    const [mediaType = ''] = (answer.headers.get('content-type') ?? '').split(';', 1);
    const isHead = asked.method === 'HEAD';
    const isPutOff = answer.status === 503 && isPrefetch(asked);
    if (isHead || isPutOff || response.content === undefined) {
      assert.equal(answer.text, '', `${what} has a body`);
      if (!isHead) this.#checkedResponses.add(`${operation.operationId} ${status}`);
      return;
    }
    assert.ok(mediaType in response.content, `the document does not contain ${mediaType} of ${what}`);
    const body = mediaType === 'application/json' ? (JSON.parse(answer.text) as unknown) : answer.text;
    this.#responseSchemas.assertValid([...place, 'content', mediaType, 'schema'], body, `the body of ${what}`);
    const codes = errorCodesOf(status, response);
    const code = codes === null ? '' : (body as ErrorBody).error;
    assert.ok(codes === null || codes.includes(code), `the document does not contain ${code} of ${what}`);
    this.#checkedResponses.add(`${operation.operationId} ${status} ${code}`.trimEnd());
  }

  #resolveReference(response: OpenApiResponse | SchemaReference): OpenApiResponse {
    if (!('$ref' in response)) return response;
    const shared = this.document.components.responses[response.$ref.split('/').at(-1)!];
    assert.ok(shared !== undefined, `the document has no ${response.$ref}`);
    return shared;
  }

  #checkHeaders({ headers = {} }: OpenApiResponse, where: readonly string[], answer: HttpResponse, what: string): void {
    const documented = new Set<string>();
    for (const [name, { required, schema }] of Object.entries(headers)) {
      documented.add(name.toLowerCase());
      const text = answer.headers.get(name.toLowerCase());
      assert.ok(!required || text !== undefined, `${what} has no ${name}`);
      if (text === undefined) continue;
      const value = parseValue(schema, text);
      this.#responseSchemas.assertValid([...where, name, 'schema'], value, `the header ${name} of ${what}`);
    }
    for (const name of answer.headers.keys()) {
      const isOrdinary = ordinaryHeaders.has(name) || name.startsWith('access-control-');
      assert.ok(isOrdinary || documented.has(name), `the document does not contain header ${name} of ${what}`);
    }
  }

  /** Checks a request that was accepted. */
  #checkRequest(operation: OpenApiOperation, where: readonly string[], asked: HttpRequest, query: string): void {
    const sent = new URLSearchParams(query);
    const headers = new Map(Object.entries(asked.headers ?? {}).map(([name, value]) => [name.toLowerCase(), value]));
    for (const [place, parameter] of (operation.parameters ?? []).entries()) {
      const { name, schema, required = false, explode } = parameter;
      if (parameter.in === 'path') continue;
      const text = parameter.in === 'query' ? sent.get(name) : (headers.get(name.toLowerCase()) ?? null);
      const what = `the parameter ${name} of ${operation.operationId}`;
      assert.ok(text !== null || !required, `${what} is missing, but the request was accepted`);
      if (text === null) continue;
      // A parameter without `explode` is a comma-separated list.
      const value = explode === false ? text.split(',') : parseValue(schema, text);
      const pointer = [...where, 'parameters', String(place), 'schema'];
      this.#requestSchemas.assertValid(pointer, value, `${what}, which was accepted,`);
    }
    if (operation.requestBody === undefined) return;
    const body: unknown = JSON.parse(String(asked.body));
    const schema = [...where, 'requestBody', 'content', 'application/json', 'schema'];
    this.#requestSchemas.assertValid(schema, body, `the body sent to ${operation.operationId}, which was accepted,`);
  }
}

/** Schemas of a document by their JSON pointers. */
class Schemas {
  readonly #ajv: Ajv2020;

  constructor(document: OpenApiDocument) {
    // Disables strict mode, because the document contains keywords that are not part of JSON Schema.
    this.#ajv = new Ajv2020({ strict: false, allErrors: true });
    addFormats.default(this.#ajv);
    this.#ajv.addSchema(document, 'document');
  }

  assertValid(place: readonly string[], value: unknown, what: string): void {
    const pointer = place.map((part) => encodeURIComponent(part.replaceAll('~', '~0').replaceAll('/', '~1'))).join('/');
    // Ajv compiles each schema once.
    const validate = this.#ajv.getSchema(`document#/${pointer}`)!;
    if (validate(value)) return;
    const errors = this.#ajv.errorsText(validate.errors);
    assert.fail(`${what} does not conform to the document: ${errors} in ${JSON.stringify(value)}`);
  }
}

/** Returns a copy of a schema in which objects reject unknown members. */
function rejectUnknownMembers(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(rejectUnknownMembers);
  if (typeof value !== 'object' || value === null) return value;
  const copy = Object.fromEntries(
    Object.entries(value).map(([name, member]) => [name, name === 'examples' ? member : rejectUnknownMembers(member)]),
  );
  const isObjectSchema = [copy.type].flat().includes('object') && copy.properties !== undefined;
  return isObjectSchema && copy.additionalProperties === undefined ? { ...copy, additionalProperties: false } : copy;
}

/** Returns the path of the document that matches a path, in which segments in braces match any segment. */
function findPathTemplate(templates: readonly string[], path: string): string | undefined {
  if (templates.includes(path)) return path;
  return templates.find((template) => new RegExp(`^${template.replaceAll(/\{\w+\}/g, '[^/]+')}$`).test(path));
}

function isUnknownPath({ status, text }: HttpResponse): boolean {
  return status === 404 && text.startsWith('{"error":"NOT_FOUND"');
}

function operationsOf(item: PathItem): readonly (readonly [string, OpenApiOperation])[] {
  return (['get', 'post', 'put', 'delete'] as const).flatMap((verb) => {
    const operation = item[verb];
    return operation === undefined ? [] : [[verb, operation] as const];
  });
}

/** Whether only pages of allowed origins get responses, including responses to OPTIONS. */
function isForAllowedOrigins(item: PathItem): boolean {
  const forbidden = operationsOf(item)[0]?.[1].responses[403];
  return (
    forbidden !== undefined && !('$ref' in forbidden) && errorCodesOf('403', forbidden)?.[0] === 'ORIGIN_NOT_ALLOWED'
  );
}

/** Whether a request is a prefetch. A prefetch that would be counted is rejected without a body. */
function isPrefetch({ headers = {} }: HttpRequest): boolean {
  return Object.keys(headers).some((name) => /^(sec-purpose|purpose|x-purpose|x-moz)$/i.test(name));
}

/** Returns the codes of an error, which are the names of its examples; null for a status that is no error or any error. */
function errorCodesOf(status: string, { content }: OpenApiResponse): readonly string[] | null {
  const examples = content?.['application/json']?.examples;
  return Number(status) >= 400 && examples !== undefined ? Object.keys(examples) : null;
}

function assertAllow({ headers }: HttpResponse, item: PathItem): void {
  const methods = operationsOf(item).flatMap(([verb]) => (verb === 'get' ? ['GET', 'HEAD'] : [verb.toUpperCase()]));
  const allow = (headers.get('allow') ?? '').split(', ');
  assert.deepEqual(allow.sort(), [...methods, 'OPTIONS'].sort());
}

/** Converts a text to the type of its schema. */
function parseValue(schema: object, text: string): unknown {
  const { type } = schema as { readonly type?: unknown };
  return type === 'integer' && /^-?\d+$/.test(text) ? Number(text) : text;
}
