import type { Gatekeeper } from '../access/gatekeeper.ts';
import type { Operation } from '../access/key-use.ts';
import { type ErrorCode, errorTable } from '../domain/error-table.ts';
import type { InvalidField, Outcome, Refusal } from '../domain/outcome.ts';
import type { Sort } from '../offers/matcher.ts';
import type { SessionView } from '../operations/create-session.ts';
import type { MarketplaceRequest } from '../operations/get-marketplace.ts';
import type { AnalyticsRequest, SummaryView } from '../operations/query-analytics.ts';
import type { InputsView } from '../operations/submit-inputs.ts';
import type { Vertical } from '../verticals/vertical.ts';
import type { ApiOperations } from './api-operations.ts';

/** An error as the API answers it: the body's members and the status they came with. */
export interface ApiError {
  readonly status: number;
  readonly error: ErrorCode;
  readonly message: string;
  readonly param?: string;
  readonly fields_invalid?: readonly InvalidField[];
  /** Whole seconds to wait (429, 503). */
  readonly retry_after?: number;
}

/** What an operation comes to, in one union: look at `ok` first. */
export type Result<Value> =
  | { readonly ok: true; readonly value: Value }
  | { readonly ok: false; readonly error: ApiError };

/** One offer of the marketplace (contract 2.3 and the additive fields of D8). */
export interface OfferView {
  readonly svc_offer_id: string;
  readonly lender_name: string;
  readonly logo_url: string;
  readonly apr_range: { readonly min: number; readonly max: number };
  readonly monthly_payment_estimate: number;
  readonly svc_star_rating: number;
  readonly features: readonly string[];
  readonly prequalification: boolean;
  readonly click_url: string;
  readonly loan_amount_range: { readonly min: number; readonly max: number };
  readonly term_months: readonly number[];
  readonly position: number;
}

/** The marketplace envelope (contract 2.4 and the additive fields of D8). */
export interface MarketplaceView {
  readonly sub_id: string;
  readonly match_quality: 'high' | 'partial' | 'none';
  readonly offers: readonly OfferView[];
  readonly total_offers: number;
  readonly generated_at: string;
  readonly sort: Sort;
  readonly catalog_version: string;
  readonly disclosure: string;
}

/** Parameters of GET /marketplace; `format` is `json` here. */
export interface MarketplaceQuery {
  readonly sub_id: string;
  readonly max_offers?: number;
  readonly sort?: Sort;
}

/** Parameters of GET /analytics; dates are `YYYY-MM-DD`. */
export interface AnalyticsQuery {
  readonly referrer_tag?: string;
  readonly sub_id_list?: readonly string[];
  readonly date_from?: string;
  readonly date_to?: string;
}

export interface EmbeddedFacePorts {
  readonly gatekeeper: Gatekeeper;
  readonly operations: ApiOperations;
}

/**
 * The door for the program that embeds the service: the four operations as async functions for one API key and vertical, with
 * the same checks in the same order as over HTTP, and the same limits.
 */
export class Partner {
  readonly #ports: EmbeddedFacePorts;
  readonly #vertical: Vertical;
  readonly #authorization: string;

  constructor(ports: EmbeddedFacePorts, vertical: Vertical, apiKey: string) {
    this.#ports = ports;
    this.#vertical = vertical;
    this.#authorization = `Bearer ${apiKey}`;
  }

  /** POST /session (contract 4.1). The key makes a retry safe: it gets the first answer and creates nothing (D5). */
  async createSession(
    body: {
      readonly referrer_tag: string;
      readonly user_agent?: string;
      readonly metadata?: Readonly<Record<string, string | number | boolean | null>>;
    },
    { idempotencyKey = null }: { readonly idempotencyKey?: string | null } = {},
  ): Promise<Result<SessionView>> {
    const admission = this.#admit('create_session');
    if (!admission.ok) return failed(admission.refusal);
    const outcome = await this.#ports.operations.createSession(admission, body, idempotencyKey);
    return outcome.ok ? { ok: true, value: outcome.value.session } : failed(outcome.refusal);
  }

  /** POST /inputs (contract 4.2). */
  async submitInputs(body: {
    readonly sub_id: string;
    readonly fields: Readonly<Record<string, unknown>>;
  }): Promise<Result<InputsView>> {
    const admission = this.#admit('submit_inputs');
    if (!admission.ok) return failed(admission.refusal);
    return result(this.#ports.operations.submitInputs(admission, body));
  }

  /** GET /marketplace with `format=json` (contract 4.3). Each answer is a view. */
  async getMarketplace(query: MarketplaceQuery): Promise<Result<MarketplaceView>> {
    const admission = this.#admit('get_marketplace');
    if (!admission.ok) return failed(admission.refusal);
    const request: MarketplaceRequest = {
      sub_id: query.sub_id,
      format: 'json',
      max_offers: query.max_offers === undefined ? undefined : String(query.max_offers),
      sort: query.sort,
    };
    const outcome = await this.#ports.operations.getMarketplace(admission, request, true);
    return outcome.ok ? { ok: true, value: JSON.parse(outcome.value) as MarketplaceView } : failed(outcome.refusal);
  }

  /** GET /analytics with `granularity=summary` (contract 4.4). */
  async queryAnalytics(query: AnalyticsQuery): Promise<Result<SummaryView>> {
    const admission = this.#admit('query_analytics');
    if (!admission.ok) return failed(admission.refusal);
    const request: AnalyticsRequest = { ...query, sub_id_list: query.sub_id_list?.join(',') };
    return result(await this.#ports.operations.queryAnalytics(admission, request));
  }

  #admit(operation: Operation) {
    return this.#ports.gatekeeper.admit(this.#authorization, this.#vertical, operation);
  }
}

function result<Value>(outcome: Outcome<Value>): Result<Value> {
  return outcome.ok ? outcome : failed(outcome.refusal);
}

function failed(refusal: Refusal): { readonly ok: false; readonly error: ApiError } {
  const { param, fieldsInvalid, retryAfterSeconds } = refusal;
  return {
    ok: false,
    error: {
      status: errorTable[refusal.code].status,
      error: refusal.code,
      message: errorTable[refusal.code].message,
      ...(param !== undefined && { param }),
      ...(fieldsInvalid !== undefined && { fields_invalid: fieldsInvalid }),
      ...(retryAfterSeconds !== undefined && { retry_after: retryAfterSeconds }),
    },
  };
}
