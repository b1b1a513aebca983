import type { HttpClient, HttpRequest, HttpResponse } from '../support/http-client.ts';

type Headers = Readonly<Record<string, string>>;

/** Headers that a browser sends with the requests of a page of the same origin. */
const sameOrigin: Headers = { 'Sec-Fetch-Site': 'same-origin' };

export const cookieNames = { partner: 'svc_console', operator: 'svc_operator_console' } as const;
export type ConsoleName = keyof typeof cookieNames;

/** Sends a request as the page of a console does. `json` is sent as the body. */
export function sendAsPage(
  http: HttpClient,
  { json, ...request }: HttpRequest & { readonly json?: unknown },
  cookie = '',
): Promise<HttpResponse> {
  const body = json === undefined ? request.body : JSON.stringify(json);
  const headers: Record<string, string> = { ...sameOrigin };
  if (cookie !== '') headers.Cookie = cookie;
  if (body !== undefined) {
    headers['Content-Type'] = 'application/json';
    headers['Content-Length'] = String(Buffer.byteLength(body));
  }
  const all = { ...request, headers: { ...headers, ...request.headers } };
  return http.send(body === undefined ? all : { ...all, body });
}

export const loginPath = '/console/api/login';

export function sendLogin(http: HttpClient, json: unknown, headers: Headers = {}): Promise<HttpResponse> {
  return sendAsPage(http, { method: 'POST', path: loginPath, json, headers });
}

/** Returns the cookie that a response sets, as the value of the header `Cookie`. */
export function cookieOf({ headers }: HttpResponse): string {
  return headers.get('set-cookie')?.split(';', 1)[0] ?? '';
}

/** Logs in, and returns the value of the header `Cookie`. */
export async function logIn(http: HttpClient, secret: { readonly key: string } | { readonly token: string }) {
  return cookieOf(await sendLogin(http, secret));
}
