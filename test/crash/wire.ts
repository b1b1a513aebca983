import { AssertionError } from 'node:assert/strict';
import { setTimeout as sleep } from 'node:timers/promises';
import type {
  ConfirmationsView,
  DailyView,
  MarketplaceView,
  RowsView,
  SessionView,
  SummaryView,
  WidgetEmbedView,
} from '../../src/index.ts';
import type { SortOrder } from '../../src/matching/matcher.ts';
import type { InputsView } from '../../src/operations/submit-inputs.ts';
import { ApiCaller, WidgetCaller, type WidgetOffersView } from '../support/api-caller.ts';
import { type Answer, HttpClient } from '../support/http-client.ts';
import type { Partner } from './partner.ts';
import type { Ports } from './server-process.ts';
import type { WidgetReport } from './widget-record.ts';

const verticalSegment = 'personal-loans';
/** How often, and how long apart, a question is asked again that a server just started answers with 503. */
const patience = { times: 50, pauseMs: 200 };

/** The service answers 503 by itself long before (docs/contract.md#uncertain-outcomes). */
const answerWaitMs = 30_000;

export type Operation = 'create' | 'submit' | 'view' | 'query' | 'click' | 'confirm' | 'embed' | 'show' | 'report';

/** A request is about to be sent, or was answered just now. */
export type Turn = 'sent' | 'answered';

/** What opens a session's widget. */
export interface WidgetLink {
  readonly subId: string;
  readonly token: string;
}

export interface WidgetAsked {
  readonly load: string;
  readonly sort: SortOrder;
  readonly maxOffers: number;
}

/** Where a life of the server is reached, and what opens the operator's door. */
export interface Address {
  readonly ports: Ports;
  readonly operatorToken: string;
}

/**
 * Connections to one life of the server. `null` in place of an answer: the connection was lost, so that nobody knows
 * what became of the request.
 */
export class Wire {
  readonly #http: HttpClient;
  readonly #operations: HttpClient;
  readonly #operatorToken: string;
  readonly #onTurn: (operation: Operation, turn: Turn) => void;
  /** Whether an answer has failed to come: the server has been killed. */
  isCut = false;
  #isDeaf = false;

  /** `onTurn` is called ahead of every request and with every answer, and may have the server killed. */
  constructor({ ports, operatorToken }: Address, onTurn: (operation: Operation, turn: Turn) => void = () => {}) {
    this.#http = new HttpClient(ports.public);
    this.#operations = new HttpClient(ports.operations, false);
    this.#operatorToken = operatorToken;
    this.#onTurn = onTurn;
  }

  createSession(partner: Partner, body: object, idempotencyKey: string | null): Promise<Answer | null> {
    const headers = idempotencyKey === null ? {} : { 'Idempotency-Key': idempotencyKey };
    return this.#send('create', () => this.#as(partner).post('session', body, headers));
  }

  submitInputs(partner: Partner, subId: string, fields: object): Promise<Answer | null> {
    return this.#send('submit', () => this.#as(partner).post('inputs', { sub_id: subId, fields }));
  }

  getMarketplace(partner: Partner, subId: string, maxOffers: number): Promise<Answer | null> {
    return this.#send('view', () =>
      this.#as(partner).get('marketplace', { sub_id: subId, format: 'json', max_offers: maxOffers }),
    );
  }

  /** The code of `format=js`, as JSON. */
  embedWidget(partner: Partner, subId: string): Promise<Answer | null> {
    const accept = { Accept: 'application/json' };
    return this.#send('embed', () => this.#as(partner).get('marketplace', { sub_id: subId, format: 'js' }, accept));
  }

  /** What a widget asks for under a load. */
  showWidget({ subId, token }: WidgetLink, { load, sort, maxOffers }: WidgetAsked): Promise<Answer | null> {
    const widget = new WidgetCaller(this.#http, subId, token);
    return this.#send('show', () => widget.get('/offers', { load, sort, max_offers: maxOffers }));
  }

  /** What a widget tells. */
  reportWidget({ subId, token }: WidgetLink, { load, events }: WidgetReport): Promise<Answer | null> {
    const body = events.map(({ id, type, offerId }) => ({
      event_id: id,
      type,
      ...(offerId === null ? {} : { svc_offer_id: offerId }),
    }));
    return this.#send('report', () => new WidgetCaller(this.#http, subId, token).report({ load, events: body }));
  }

  queryAnalytics(partner: Partner, query: Readonly<Record<string, string>>): Promise<Answer | null> {
    return this.#send('query', () => this.#as(partner).get('analytics', query));
  }

  click(path: string): Promise<Answer | null> {
    return this.#send('click', () => this.#http.send({ path }));
  }

  /** One row, or an array of them. */
  confirm(rows: object): Promise<Answer | null> {
    const body = JSON.stringify(rows);
    const headers = {
      Authorization: `Bearer ${this.#operatorToken}`,
      'Content-Type': 'application/json',
      'Content-Length': String(Buffer.byteLength(body)),
    };
    return this.#send('confirm', () =>
      this.#operations.send({ method: 'POST', path: '/confirmations', headers, body }),
    );
  }

  /** Whatever is answered from now on is lost on its way. */
  deafen(): void {
    this.#isDeaf = true;
  }

  close(): void {
    this.#http.close();
    this.#operations.close();
  }

  #as({ key }: Partner): ApiCaller {
    return new ApiCaller(this.#http, verticalSegment, key);
  }

  async #send(operation: Operation, request: () => Promise<Answer>): Promise<Answer | null> {
    this.#onTurn(operation, 'sent');
    let timer: NodeJS.Timeout | undefined;
    const tooLate = new Promise<never>((_, reject) => {
      timer = setTimeout(() => reject(new NoAnswer()), answerWaitMs);
    });
    try {
      const answer = await Promise.race([request(), tooLate]);
      if (!this.#isDeaf) {
        this.#onTurn(operation, 'answered');
        return answer;
      }
      this.isCut = true;
      return null;
    } catch (fault) {
      // The client judges every answer by what they have in common, and a bad one is not a lost one.
      if (fault instanceof AssertionError || fault instanceof NoAnswer) throw fault;
      this.isCut = true;
      return null;
    } finally {
      clearTimeout(timer);
    }
  }
}

class NoAnswer extends Error {
  override readonly name = 'NoAnswer';

  constructor() {
    super(`neither an answer nor a lost connection after ${answerWaitMs} ms`);
  }
}

/** The answer of a server that nobody kills: asked again while it is 503, and 200 in the end, or what else is wanted. */
export async function answered(ask: () => Promise<Answer | null>, wanted = 200): Promise<Answer> {
  for (let time = 1; ; time++) {
    const answer = await ask();
    if (answer === null) throw new Error('the server does not answer');
    if (answer.status === wanted) return answer;
    if (answer.status !== 503 || time === patience.times) throw unexpected(answer);
    await sleep(patience.pauseMs);
  }
}

export function unexpected({ status, text }: Answer): Error {
  return new Error(`an answer that should not be: ${status} ${text}`);
}

export const sessionOf = (answer: Answer): SessionView => JSON.parse(answer.text);
export const inputsOf = (answer: Answer): InputsView => JSON.parse(answer.text);
export const marketplaceOf = (answer: Answer): MarketplaceView => JSON.parse(answer.text);
export const embedOf = (answer: Answer): WidgetEmbedView => JSON.parse(answer.text);
export const widgetOffersOf = (answer: Answer): WidgetOffersView => JSON.parse(answer.text);
export const summaryOf = (answer: Answer): SummaryView => JSON.parse(answer.text);
export const confirmationsOf = (answer: Answer): ConfirmationsView => JSON.parse(answer.text);
export const dailyOf = (answer: Answer): DailyView => JSON.parse(answer.text);
export const rowsOf = (answer: Answer): RowsView => JSON.parse(answer.text);
