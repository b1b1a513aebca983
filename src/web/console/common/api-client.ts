import { requestTimeoutMs } from './limits.ts';

/** Why a request has no usable answer. */
export type ApiFailure =
  /** The server cannot be reached. */
  | { readonly kind: 'offline' }
  /** The login has ended. */
  | { readonly kind: 'expired' }
  /** The server refused the request, or could not answer it. */
  | {
      readonly kind: 'refused';
      readonly status: number;
      readonly code: string;
      /** The sentence of the server. */
      readonly message: string;
      /** Name of the member or parameter that is wrong. */
      readonly param: string | null;
      readonly requestId: string | null;
      readonly retryAfterSeconds: number | null;
    }
  /** The answer is not what this page expects, for example because the server is newer than the page. */
  | { readonly kind: 'unexpected'; readonly requestId: string | null };

export type ApiResult<Value> =
  | { readonly ok: true; readonly value: Value }
  | { readonly ok: false; readonly failure: ApiFailure };

export interface ApiRequest {
  readonly method?: 'GET' | 'POST' | 'PUT' | 'DELETE';
  /** Sent as JSON. */
  readonly body?: unknown;
  /** JSON text that is sent as it is, instead of `body`. */
  readonly json?: string;
  readonly signal?: AbortSignal;
  /** Members without which the page cannot show the answer. An answer that lacks one is unexpected. */
  readonly members?: readonly string[];
}

type Query = Readonly<Record<string, string | number | boolean | null | undefined>>;

/** Returns the address of an endpoint for {@link callApi}. Segments are encoded; parameters that are null or undefined are left out. */
export function apiPath(segments: readonly string[], query: Query = {}): string {
  const parameters = new URLSearchParams();
  for (const [name, value] of Object.entries(query)) {
    if (value !== null && value !== undefined) parameters.set(name, String(value));
  }
  const text = parameters.toString();
  return segments.map(encodeURIComponent).join('/') + (text === '' ? '' : `?${text}`);
}

/** Listeners that learn that the login has ended. */
const expiryListeners = new Set<() => void>();

/** Calls the listener when an answer says that the login has ended. Returns the function that removes it. */
export function onLoginExpired(listener: () => void): () => void {
  expiryListeners.add(listener);
  return () => expiryListeners.delete(listener);
}

/** Sends a request to the API of the console. The address is relative, because a proxy may add a prefix to the path of the page. */
async function send(
  path: string,
  { method = 'GET', body, json = body === undefined ? undefined : JSON.stringify(body), signal }: ApiRequest,
  accept: string,
): Promise<Response | null> {
  const timeout = AbortSignal.timeout(requestTimeoutMs);
  const headers: Record<string, string> = { Accept: accept };
  if (json !== undefined) headers['Content-Type'] = 'application/json';
  try {
    return await fetch(`./api/${path}`, {
      method,
      headers,
      body: json ?? null,
      cache: 'no-store',
      credentials: 'same-origin',
      redirect: 'error',
      signal: signal === undefined ? timeout : AbortSignal.any([signal, timeout]),
    });
  } catch {
    return null;
  }
}

async function readJson(response: Response): Promise<unknown> {
  try {
    return await response.json();
  } catch {
    return undefined;
  }
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null;
}

/** Returns the failure of an answer with an error status. A proxy may have written the answer, so its members are checked. */
async function describeFailure(response: Response, isLogin: boolean): Promise<ApiFailure> {
  const requestId = response.headers.get('X-Request-Id');
  const body = await readJson(response);
  if (response.status === 401 && !isLogin) {
    for (const listener of expiryListeners) listener();
    return { kind: 'expired' };
  }
  if (!isObject(body) || typeof body.message !== 'string') {
    // Proxies answer with their own pages while the server restarts.
    return response.status >= 502 ? { kind: 'offline' } : { kind: 'unexpected', requestId };
  }
  const retryAfterSeconds = Number(response.headers.get('Retry-After') ?? Number.NaN);
  return {
    kind: 'refused',
    status: response.status,
    code: String(body.error),
    message: body.message,
    param: typeof body.param === 'string' ? body.param : null,
    requestId,
    retryAfterSeconds: Number.isFinite(retryAfterSeconds) ? retryAfterSeconds : null,
  };
}

/**
 * Sends a request and returns its JSON answer; `undefined` for an answer without content.
 *
 * @param path address below `./api/`, from {@link apiPath}
 */
export async function callApi<Value>(path: string, request: ApiRequest = {}): Promise<ApiResult<Value>> {
  const response = await send(path, request, 'application/json');
  if (response === null) return { ok: false, failure: { kind: 'offline' } };
  // A wrong key is no expired login.
  const isLogin = path === 'login' && request.method === 'POST';
  if (!response.ok) return { ok: false, failure: await describeFailure(response, isLogin) };
  if (response.status === 204) return { ok: true, value: undefined as Value };
  const value = await readJson(response);
  const isComplete = isObject(value) && (request.members ?? []).every((member) => member in value);
  if (isComplete) return { ok: true, value: value as Value };
  return { ok: false, failure: { kind: 'unexpected', requestId: response.headers.get('X-Request-Id') } };
}
