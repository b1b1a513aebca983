import assert, { AssertionError } from 'node:assert/strict';
import { setTimeout as sleep } from 'node:timers/promises';
import type { SortOrder } from '../../src/domain/vertical.ts';
import type {
  AnalyticsSummary,
  ConfirmationsResponse,
  DailyAnalytics,
  MarketplaceResponse,
  OfferAnalytics,
  SessionResponse,
  SessionRowsResponse,
  WidgetEmbedResponse,
} from '../../src/index.ts';
import type { InputsResponse } from '../../src/operations/submit-inputs.ts';
import type { Ports } from '../cli/served-process.ts';
import { ApiCaller, WidgetCaller, type WidgetOffersResponse } from '../support/api-caller.ts';
import { HttpClient, type HttpResponse } from '../support/http-client.ts';
import type { Tally } from './expectations.ts';
import type { Partner } from './server-process.ts';
import type { SessionRecord } from './session-record.ts';
import type { WidgetReport } from './widget-record.ts';

/** Attempts, and the pause between them, while a restarted server answers 503. */
const retries = { attemptsMax: 50, pauseMs: 200 };
/** Longer than the service takes to answer 503 (docs/contract.md#uncertain-outcomes). */
const answerTimeoutMs = 30_000;

export type Operation =
  | 'create'
  | 'submit'
  | 'view'
  | 'query'
  | 'click'
  | 'confirm'
  | 'embed'
  | 'show'
  | 'report'
  | 'define'
  | 'close';

/** `sent`: the request is about to be sent. `answered`: the answer has just arrived. */
export type Turn = 'sent' | 'answered';

export interface WidgetLink {
  readonly subId: string;
  readonly token: string;
}

/** Query of a widget. */
export interface WidgetAsked {
  readonly load: string;
  readonly sort: SortOrder;
  readonly maxOffers: number;
}

export interface Address {
  readonly ports: Ports;
  readonly operatorToken: string;
}

/** Connections to a server. A request resolves with null if the connection was lost; its outcome is then unknown. */
export class ServerConnections {
  readonly #http: HttpClient;
  readonly #operations: HttpClient;
  readonly #operatorToken: string;
  readonly #onTurn: (operation: Operation, turn: Turn) => void;
  /** Whether a connection was lost, because the server was killed. */
  isLost = false;
  #discardsAnswers = false;

  /** @param onTurn called before each request and after each answer; may kill the server */
  constructor({ ports, operatorToken }: Address, onTurn: (operation: Operation, turn: Turn) => void = () => {}) {
    this.#http = new HttpClient(ports.public);
    this.#operations = new HttpClient(ports.operations, false);
    this.#operatorToken = operatorToken;
    this.#onTurn = onTurn;
  }

  createSession(partner: Partner, body: object, idempotencyKey: string | null): Promise<HttpResponse | null> {
    const headers = idempotencyKey === null ? {} : { 'Idempotency-Key': idempotencyKey };
    return this.#send('create', () => this.#as(partner).post('session', body, headers));
  }

  submitInputs(partner: Partner, subId: string, fields: object): Promise<HttpResponse | null> {
    return this.#send('submit', () => this.#as(partner).post('inputs', { sub_id: subId, fields }));
  }

  getMarketplace(partner: Partner, subId: string, maxOffers: number): Promise<HttpResponse | null> {
    const query = { sub_id: subId, format: 'json', max_offers: maxOffers };
    return this.#send('view', () => this.#as(partner).get('marketplace', query));
  }

  /** Requests the widget code (`format=js`) as JSON. */
  embedWidget(partner: Partner, subId: string): Promise<HttpResponse | null> {
    const accept = { Accept: 'application/json' };
    return this.#send('embed', () => this.#as(partner).get('marketplace', { sub_id: subId, format: 'js' }, accept));
  }

  showWidget({ subId, token }: WidgetLink, { load, sort, maxOffers }: WidgetAsked): Promise<HttpResponse | null> {
    const widget = new WidgetCaller(this.#http, subId, token);
    return this.#send('show', () => widget.get('/offers', { load, sort, max_offers: maxOffers }));
  }

  reportWidget({ subId, token }: WidgetLink, { load, events }: WidgetReport): Promise<HttpResponse | null> {
    const widget = new WidgetCaller(this.#http, subId, token);
    const body = events.map(({ id, type, offerId }) => ({
      event_id: id,
      type,
      ...(offerId === null ? {} : { svc_offer_id: offerId }),
    }));
    return this.#send('report', () => widget.sendEvents({ load, events: body }));
  }

  queryAnalytics(partner: Partner, query: Readonly<Record<string, string>>): Promise<HttpResponse | null> {
    return this.#send('query', () => this.#as(partner).get('analytics', query));
  }

  defineExperiment(partner: Partner, name: string, definition: object): Promise<HttpResponse | null> {
    return this.#send('define', () => this.#as(partner).send('PUT', `experiments/${name}`, definition));
  }

  closeExperiment(partner: Partner, name: string, closing: object): Promise<HttpResponse | null> {
    return this.#send('close', () => this.#as(partner).send('POST', `experiments/${name}/close`, closing));
  }

  getExperiment(partner: Partner, name: string): Promise<HttpResponse | null> {
    return this.#send('query', () => this.#as(partner).send('GET', `experiments/${name}`));
  }

  click(path: string): Promise<HttpResponse | null> {
    return this.#send('click', () => this.#http.send({ path }));
  }

  /** @param rows one confirmation, or an array */
  confirm(rows: object): Promise<HttpResponse | null> {
    const body = JSON.stringify(rows);
    const headers = {
      Authorization: `Bearer ${this.#operatorToken}`,
      'Content-Type': 'application/json',
      'Content-Length': String(Buffer.byteLength(body)),
    };
    const request = { method: 'POST', path: '/confirmations', headers, body };
    return this.#send('confirm', () => this.#operations.send(request));
  }

  /** Discards all later answers, as if they were lost. */
  discardAnswers(): void {
    this.#discardsAnswers = true;
  }

  close(): void {
    this.#http.close();
    this.#operations.close();
  }

  #as({ key }: Partner): ApiCaller {
    return new ApiCaller(this.#http, 'personal-loans', key);
  }

  async #send(operation: Operation, request: () => Promise<HttpResponse>): Promise<HttpResponse | null> {
    this.#onTurn(operation, 'sent');
    let timer: NodeJS.Timeout | undefined;
    const timeout = new Promise<never>((_, reject) => {
      timer = setTimeout(() => reject(new NoAnswer(`no answer after ${answerTimeoutMs} ms`)), answerTimeoutMs);
    });
    try {
      const answer = await Promise.race([request(), timeout]);
      if (!this.#discardsAnswers) {
        this.#onTurn(operation, 'answered');
        return answer;
      }
    } catch (error) {
      // The HTTP client asserts the common properties of all answers. A wrong answer is not a lost answer.
      if (error instanceof AssertionError || error instanceof NoAnswer) throw error;
    } finally {
      clearTimeout(timer);
    }
    this.isLost = true;
    return null;
  }
}

class NoAnswer extends Error {}

/** Repeats a request while the server answers 503. Returns the answer, which must have the wanted status. */
export async function retryUntilAnswered(ask: () => Promise<HttpResponse | null>, wanted = 200): Promise<HttpResponse> {
  for (let attempt = 1; ; attempt++) {
    const answer = await ask();
    if (answer === null) throw new Error('the server does not answer');
    if (answer.status === wanted) return answer;
    if (answer.status !== 503 || attempt === retries.attemptsMax) throw unexpected(answer);
    await sleep(retries.pauseMs);
  }
}

export function unexpected({ status, text }: HttpResponse): Error {
  return new Error(`unexpected answer: ${status} ${text}`);
}

export async function querySummary(
  wire: ServerConnections,
  partner: Partner,
  query: Readonly<Record<string, string>>,
): Promise<AnalyticsSummary> {
  return summaryOf(await retryUntilAnswered(() => wire.queryAnalytics(partner, query)));
}

/** Sends equal requests at the same time. */
export function repeat(copies: number, ask: () => Promise<HttpResponse | null>): Promise<(HttpResponse | null)[]> {
  return Promise.all(Array.from({ length: copies }, ask));
}

/**
 * Whether a request was answered with the status `wanted`. Otherwise it must have no answer or 503, which a loaded server may answer at any
 * time (docs/contract.md#error-codes). Then freezes the session, because the outcome of the request is unknown.
 */
export function isAccepted(
  answer: HttpResponse | null,
  tally: Tally,
  session: Pick<SessionRecord, 'isFrozen'> | null = null,
  wanted = 200,
): answer is HttpResponse {
  if (answer === null) return false;
  if (answer.status === wanted) return true;
  if (answer.status !== 503) throw unexpected(answer);
  tally.add('requests answered with 503');
  if (session !== null) session.isFrozen = true;
  return false;
}

/** Checks the answer to a request for offers of a session without the required fields. */
export function expectInsufficient(answer: HttpResponse | null): void {
  if (answer !== null && answer.status !== 503) assert.equal(answer.status, 400, answer.text);
}

export const sessionOf = (answer: HttpResponse): SessionResponse => JSON.parse(answer.text);
export const inputsOf = (answer: HttpResponse): InputsResponse => JSON.parse(answer.text);
export const marketplaceOf = (answer: HttpResponse): MarketplaceResponse => JSON.parse(answer.text);
export const embedOf = (answer: HttpResponse): WidgetEmbedResponse => JSON.parse(answer.text);
export const widgetOffersOf = (answer: HttpResponse): WidgetOffersResponse => JSON.parse(answer.text);
export const summaryOf = (answer: HttpResponse): AnalyticsSummary => JSON.parse(answer.text);
export const confirmationsOf = (answer: HttpResponse): ConfirmationsResponse => JSON.parse(answer.text);
export const dailyOf = (answer: HttpResponse): DailyAnalytics => JSON.parse(answer.text);
export const offersOf = (answer: HttpResponse): OfferAnalytics => JSON.parse(answer.text);
export const rowsOf = (answer: HttpResponse): SessionRowsResponse => JSON.parse(answer.text);
