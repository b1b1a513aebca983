import type { WidgetOffersView } from '../../src/operations/show-widget-offers.ts';
import { assertOk } from './answers.ts';
import type { Answer, HttpClient } from './http-client.ts';

type Query = Readonly<Record<string, string | number>>;
type Headers = Readonly<Record<string, string>>;

export type { WidgetOffersView };

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
    const parameters = Object.entries({ sub: this.subId, token: this.token, ...query }).map(([name, value]) => [
      name,
      String(value),
    ]);
    return `/w${address}?${new URLSearchParams(parameters as [string, string][])}`;
  }

  get(address: '' | '/offers', query: Query = {}, headers: Headers = {}, method = 'GET'): Promise<Answer> {
    return this.http.send({ method, path: this.path(address, query), headers });
  }

  async offers(load: string, query: Query = {}): Promise<WidgetOffersView> {
    return assertOk(await this.get('/offers', { load, ...query }));
  }

  /** Sends a string as the body without changes, and any other value as JSON. */
  report(body: unknown, headers: Headers = {}): Promise<Answer> {
    const raw = typeof body === 'string' ? body : JSON.stringify(body);
    return this.http.send({
      method: 'POST',
      path: this.path('/events'),
      headers: {
        'Content-Type': 'text/plain;charset=UTF-8',
        'Content-Length': String(Buffer.byteLength(raw)),
        ...headers,
      },
      body: raw,
    });
  }
}

/** Returns a unique load id for a number. */
export function loadId(number: number): string {
  return number.toString(16).padStart(16, '0');
}
