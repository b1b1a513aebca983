import type {
  DailyView,
  MarketplaceView,
  RowsView,
  SessionView,
  SummaryView,
  WidgetEmbedView,
} from '../../src/index.ts';
import type { InputsView } from '../../src/operations/submit-inputs.ts';
import { assertOk } from './answers.ts';
import type { Answer, HttpClient } from './http-client.ts';
import { WidgetCaller } from './widget-caller.ts';

type Query = Readonly<Record<string, string | number>>;
type Headers = Readonly<Record<string, string>>;

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
  post(operation: 'session' | 'inputs', body: unknown, headers: Headers = {}): Promise<Answer> {
    const raw = typeof body === 'string' || Buffer.isBuffer(body) ? body : JSON.stringify(body);
    return this.http.send({
      method: 'POST',
      path: `${this.basePath}/${operation}`,
      headers: {
        Authorization: `Bearer ${this.key}`,
        'Content-Type': 'application/json',
        'Content-Length': String(Buffer.byteLength(raw)),
        ...headers,
      },
      body: raw,
    });
  }

  /** Sends a query string without changes, or encodes the members of a query object. */
  get(
    operation: 'marketplace' | 'analytics',
    query: Query | string,
    headers: Headers = {},
    method: 'GET' | 'HEAD' = 'GET',
  ): Promise<Answer> {
    const text =
      typeof query === 'string'
        ? query
        : new URLSearchParams(
            Object.entries(query).map(([name, value]): [string, string] => [name, String(value)]),
          ).toString();
    return this.http.send({
      method,
      path: `${this.basePath}/${operation}?${text}`,
      headers: { Authorization: `Bearer ${this.key}`, ...headers },
    });
  }

  async createSession(tag: string, more: Readonly<Record<string, unknown>> = {}): Promise<SessionView> {
    return assertOk(await this.post('session', { referrer_tag: tag, ...more }));
  }

  async submit(subId: string, fields: object): Promise<InputsView> {
    return assertOk(await this.post('inputs', { sub_id: subId, fields }));
  }

  /** Creates a session with these fields. Returns its sub_id. */
  async sessionWith(tag: string, fields: object, more: Readonly<Record<string, unknown>> = {}): Promise<string> {
    const { sub_id: subId } = await this.createSession(tag, more);
    await this.submit(subId, fields);
    return subId;
  }

  /** Creates a session with these fields, requests offers and clicks the first ones. */
  async visit(tag: string, fields: object, clicks: number, more: Readonly<Record<string, unknown>> = {}) {
    const subId = await this.sessionWith(tag, fields, more);
    const { offers } = await this.offers(subId);
    const clicked = offers.slice(0, clicks);
    for (const { click_url: url } of clicked) await this.click(url);
    return { subId, clicked };
  }

  async offers(subId: string, query: Query = {}): Promise<MarketplaceView> {
    return assertOk(await this.get('marketplace', { sub_id: subId, format: 'json', ...query }));
  }

  /** Returns the embed code of this session as JSON. */
  async embed(subId: string, format: 'iframe' | 'js', query: Query = {}): Promise<WidgetEmbedView> {
    const parameters = { sub_id: subId, format, ...query };
    return assertOk(await this.get('marketplace', parameters, { Accept: 'application/json' }));
  }

  /** Creates a session with these fields. Returns its widget. */
  async widgetWith(tag: string, fields: object): Promise<WidgetCaller> {
    const subId = await this.sessionWith(tag, fields);
    const { token } = await this.embed(subId, 'js');
    return new WidgetCaller(this.http, subId, token);
  }

  async summary(query: Query): Promise<SummaryView> {
    return assertOk(await this.get('analytics', query));
  }

  async daily(query: Query): Promise<DailyView> {
    return assertOk(await this.get('analytics', { ...query, granularity: 'daily' }));
  }

  async rows(query: Query): Promise<RowsView> {
    return assertOk(await this.get('analytics', { ...query, granularity: 'row' }));
  }

  /** Requests a click_url without changes. Does not follow the redirect. */
  click(clickUrl: string, headers: Headers = {}, method: 'GET' | 'HEAD' = 'GET'): Promise<Answer> {
    const url = new URL(clickUrl);
    return this.http.send({ method, path: url.pathname + url.search, headers });
  }
}
