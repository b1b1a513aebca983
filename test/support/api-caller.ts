import assert from 'node:assert/strict';
import type {
  AnalyticsSummary,
  DailyAnalytics,
  MarketplaceResponse,
  SessionResponse,
  SessionRowsResponse,
  WidgetEmbedResponse,
} from '../../src/index.ts';
import type { WidgetOffersResponse } from '../../src/operations/show-widget-offers.ts';
import type { InputsResponse } from '../../src/operations/submit-inputs.ts';
import type { HttpClient, HttpResponse } from './http-client.ts';

/** Statuses by error code, copied from docs/contract.md#error-codes, because the tests check the table in the code. */
const statusByErrorCode = {
  INVALID_REFERRER_TAG: 400,
  INVALID_FIELD_VALUE: 400,
  SUB_ID_EXPIRED: 400,
  INSUFFICIENT_INPUTS: 400,
  INVALID_REQUEST: 400,
  UNAUTHORIZED: 401,
  LOGIN_FAILED: 401,
  LOGIN_REQUIRED: 401,
  CROSS_SITE_REQUEST: 403,
  VERTICAL_MISMATCH: 403,
  INSUFFICIENT_SCOPE: 403,
  ORIGIN_NOT_ALLOWED: 403,
  TAG_LIMIT_EXCEEDED: 403,
  SUB_ID_NOT_FOUND: 404,
  NOT_FOUND: 404,
  METHOD_NOT_ALLOWED: 405,
  PAYLOAD_TOO_LARGE: 413,
  UNSUPPORTED_MEDIA_TYPE: 415,
  MISDIRECTED_REQUEST: 421,
  IDEMPOTENCY_MISMATCH: 422,
  RATE_LIMIT_EXCEEDED: 429,
  TOO_MANY_LOGINS: 429,
  SERVICE_UNAVAILABLE: 503,
} as const;

export type DocumentedErrorCode = keyof typeof statusByErrorCode;

export interface ErrorBody {
  readonly error: string;
  readonly message: string;
  readonly param?: string;
  readonly missing_required?: readonly string[];
  readonly fields_invalid?: readonly Readonly<Record<string, unknown>>[];
}

/**
 * Asserts that a response is this error, with its status, as JSON, and without additional members. Returns the body.
 *
 * @param param the parameter that an INVALID_REQUEST error must name
 */
export function assertError(answer: HttpResponse, code: DocumentedErrorCode, param?: string): ErrorBody {
  const { status, text, headers } = answer;
  assert.equal(status, statusByErrorCode[code], text);
  const body = parseJson<ErrorBody>(answer);
  assert.equal(body.error, code);
  assert.equal(body.param, param);
  const members = ['error', 'message'];
  if (param !== undefined) members.push('param');
  if (code === 'INVALID_FIELD_VALUE') members.push('fields_invalid');
  if (code === 'INSUFFICIENT_INPUTS') members.push('missing_required');
  assert.deepEqual(Object.keys(body).sort(), members.sort());
  assert.ok(typeof body.message === 'string' && body.message.length > 10);
  if (param !== undefined) assert.match(body.message, param === 'body' ? /body must be/ : new RegExp(`^${param} `));
  assert.equal(headers.has('www-authenticate'), code === 'UNAUTHORIZED');
  assert.equal(headers.has('allow'), code === 'METHOD_NOT_ALLOWED');
  assert.equal(headers.has('retry-after'), status === 429 || code === 'SERVICE_UNAVAILABLE');
  return body;
}

/** Whether a response is a documented error, for tests that do not know the error in advance. */
export function isDocumentedError(answer: HttpResponse): boolean {
  const { error, message, param } = parseJson<ErrorBody>(answer);
  return (
    Object.hasOwn(statusByErrorCode, error) &&
    statusByErrorCode[error as DocumentedErrorCode] === answer.status &&
    typeof message === 'string' &&
    (error === 'INVALID_REQUEST') === (typeof param === 'string')
  );
}

/** Parses the body of a response, which must be JSON with `Cache-Control: no-store`. */
export function parseJson<Body>(answer: HttpResponse): Body {
  assert.equal(answer.headers.get('content-type'), 'application/json', answer.text);
  assert.equal(answer.headers.get('cache-control'), 'no-store');
  return JSON.parse(answer.text) as Body;
}

export function assertOk<Body>(answer: HttpResponse): Body {
  assert.equal(answer.status, 200, answer.text);
  return parseJson<Body>(answer);
}

/** Asserts that a value is an ISO 8601 timestamp in UTC with milliseconds. Returns the time in milliseconds. */
export function assertTimestamp(value: unknown): number {
  assert.ok(typeof value === 'string', 'a timestamp is a string');
  assert.match(value, /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
  return Date.parse(value);
}

export type { WidgetOffersResponse };

export type Query = Readonly<Record<string, string | number>>;
type Headers = Readonly<Record<string, string>>;

function queryText(query: Query): string {
  return new URLSearchParams(query as Readonly<Record<string, string>>).toString();
}

/** Sends a string or bytes as the body without changes, and any other value as JSON. */
function sendBody(
  http: HttpClient,
  path: string,
  body: unknown,
  headers: Headers,
  method: 'POST' | 'PUT' = 'POST',
): Promise<HttpResponse> {
  const raw = typeof body === 'string' || Buffer.isBuffer(body) ? body : JSON.stringify(body);
  const length = { 'Content-Length': String(Buffer.byteLength(raw)) };
  return http.send({ method, path, headers: { ...length, ...headers }, body: raw });
}

/** Calls one vertical with one API key. `post` and `get` return any response; the other methods assert status 200. */
export class ApiCaller {
  readonly http: HttpClient;
  /** Path before the operations, such as `/v1/personal-loans`. */
  readonly basePath: string;
  readonly key: string;

  constructor(http: HttpClient, segment: string, key: string) {
    this.http = http;
    this.basePath = `/v1/${segment}`;
    this.key = key;
  }

  /** Sends a string or bytes as the body without changes, and any other value as JSON. */
  post(operation: 'session' | 'inputs', body: unknown, headers: Headers = {}): Promise<HttpResponse> {
    const ours = { Authorization: `Bearer ${this.key}`, 'Content-Type': 'application/json', ...headers };
    return sendBody(this.http, `${this.basePath}/${operation}`, body, ours);
  }

  /** Sends a query string without changes, or encodes the members of a query object. */
  get(
    operation: 'marketplace' | 'analytics' | 'tags',
    query: Query | string,
    headers: Headers = {},
    method: 'GET' | 'HEAD' = 'GET',
  ): Promise<HttpResponse> {
    const text = typeof query === 'string' ? query : queryText(query);
    return this.http.send({
      method,
      path: `${this.basePath}/${operation}?${text}`,
      headers: { Authorization: `Bearer ${this.key}`, ...headers },
    });
  }

  /** Sends a request to a path below the base path, with a body as in `post`. */
  send(method: 'GET' | 'DELETE', path: string): Promise<HttpResponse>;
  send(method: 'POST' | 'PUT', path: string, body: unknown, headers?: Headers): Promise<HttpResponse>;
  send(
    method: 'GET' | 'DELETE' | 'POST' | 'PUT',
    path: string,
    body?: unknown,
    headers: Headers = {},
  ): Promise<HttpResponse> {
    const target = `${this.basePath}/${path}`;
    const ours = { Authorization: `Bearer ${this.key}` };
    if (method === 'GET' || method === 'DELETE') return this.http.send({ method, path: target, headers: ours });
    return sendBody(this.http, target, body, { ...ours, 'Content-Type': 'application/json', ...headers }, method);
  }

  async createSession(tag: string, more: Readonly<Record<string, unknown>> = {}): Promise<SessionResponse> {
    return assertOk(await this.post('session', { referrer_tag: tag, ...more }));
  }

  async submitFields(subId: string, fields: object): Promise<InputsResponse> {
    return assertOk(await this.post('inputs', { sub_id: subId, fields }));
  }

  /** Creates a session with these fields. Returns its sub_id. */
  async createSessionWithFields(
    tag: string,
    fields: object,
    more: Readonly<Record<string, unknown>> = {},
  ): Promise<string> {
    const { sub_id: subId } = await this.createSession(tag, more);
    await this.submitFields(subId, fields);
    return subId;
  }

  /** Creates a session with these fields, requests offers and clicks the first ones. */
  async createSessionWithClicks(
    tag: string,
    fields: object,
    clicks: number,
    more: Readonly<Record<string, unknown>> = {},
  ) {
    const subId = await this.createSessionWithFields(tag, fields, more);
    const { offers } = await this.offers(subId);
    const clicked = offers.slice(0, clicks);
    for (const { click_url: url } of clicked) await this.click(url);
    return { subId, clicked };
  }

  async offers(subId: string, query: Query = {}): Promise<MarketplaceResponse> {
    return assertOk(await this.get('marketplace', { sub_id: subId, format: 'json', ...query }));
  }

  /** Returns the embed code of this session as JSON. */
  async getEmbedCode(subId: string, format: 'iframe' | 'js', query: Query = {}): Promise<WidgetEmbedResponse> {
    const parameters = { sub_id: subId, format, ...query };
    return assertOk(await this.get('marketplace', parameters, { Accept: 'application/json' }));
  }

  /** Creates a session with these fields. Returns its widget. */
  async createWidget(tag: string, fields: object): Promise<WidgetCaller> {
    const subId = await this.createSessionWithFields(tag, fields);
    const { token } = await this.getEmbedCode(subId, 'js');
    return new WidgetCaller(this.http, subId, token);
  }

  async summary(query: Query): Promise<AnalyticsSummary> {
    return assertOk(await this.get('analytics', query));
  }

  async daily(query: Query): Promise<DailyAnalytics> {
    return assertOk(await this.get('analytics', { ...query, granularity: 'daily' }));
  }

  async rows(query: Query): Promise<SessionRowsResponse> {
    return assertOk(await this.get('analytics', { ...query, granularity: 'row' }));
  }

  /** Requests a click_url without changes. Does not follow the redirect. */
  click(clickUrl: string, headers: Headers = {}, method: 'GET' | 'HEAD' = 'GET'): Promise<HttpResponse> {
    const url = new URL(clickUrl);
    return this.http.send({ method, path: url.pathname + url.search, headers });
  }
}

export interface WidgetEventBody {
  readonly event_id: string;
  readonly type: string;
  readonly svc_offer_id?: string;
}

/** Sends the requests of a widget's script, with a sub_id and a token instead of an API key. */
export class WidgetCaller {
  readonly http: HttpClient;
  readonly subId: string;
  readonly token: string;

  constructor(http: HttpClient, subId: string, token: string) {
    this.http = http;
    this.subId = subId;
    this.token = token;
  }

  /** Returns the path of a widget route, with the parameters of the widget's link. */
  path(address: '' | '/offers' | '/events', query: Query = {}): string {
    return `/w${address}?${queryText({ sub: this.subId, token: this.token, ...query })}`;
  }

  get(address: '' | '/offers', query: Query = {}, headers: Headers = {}, method = 'GET'): Promise<HttpResponse> {
    return this.http.send({ method, path: this.path(address, query), headers });
  }

  async offers(load: string, query: Query = {}): Promise<WidgetOffersResponse> {
    return assertOk(await this.get('/offers', { load, ...query }));
  }

  /** Sends a string as the body without changes, and any other value as JSON. */
  sendEvents(body: unknown, headers: Headers = {}): Promise<HttpResponse> {
    return sendBody(this.http, this.path('/events'), body, { 'Content-Type': 'text/plain;charset=UTF-8', ...headers });
  }
}

/** Returns a unique load id for a number. */
export function widgetLoadId(number: number): string {
  return number.toString(16).padStart(16, '0');
}
