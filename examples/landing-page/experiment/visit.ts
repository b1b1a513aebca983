import type { ApiResult, InputsResponse, MarketplaceApi } from '../api/marketplace-api.ts';
import type { Field } from '../form/fields.ts';
import { toApiFields } from '../form/form-answers.ts';
import type { CookieCipher } from '../web/cookies.ts';
import { type EmbedFormat, type Variant, variants } from './variants.ts';

/** State of one page load and its session. The server stores no part of it; the browser has it in a cookie. */
export interface Visit {
  readonly subId: string;
  readonly variant: Variant;
  /** ID of the visitor in the experiment; null for a visit with `?variant=`, which is in no arm. */
  readonly visitorId: string | null;
  /** Format of the offers that the query string forced; null for the format of the variant. */
  readonly embed: EmbedFormat | null;
  readonly sandbox: boolean;
  /** Entered texts by field name, to fill in the form again and to replace an expired session. */
  readonly answers: Answers;
}

/** Suffix of the referrer tags of visits with `?variant=`, so that they have figures of their own. */
export const previewSuffix = '-preview';

export type Answers = Readonly<Record<string, string>>;

/**
 * Encrypts the visit for a cookie. A signature is not enough, because the visit contains an income and the visitor's `sub_id`.
 * The cookie also proves the access to the session: a `sub_id` alone does not, because every click URL contains it.
 */
export function encryptVisit(seal: CookieCipher, visit: Visit): string {
  return seal.encrypt(JSON.stringify(visit));
}

export function decryptVisit(seal: CookieCipher, cookie: string | undefined): Visit | null {
  const text = cookie === undefined ? null : seal.decrypt(cookie);
  // Only this code encrypts visits, so their format needs no validation. Another format needs another `visitKeyPurpose`.
  return text === null ? null : (JSON.parse(text) as Visit);
}

export const visitKeyPurpose = 'visit, version 2';

/** Result of an API call, and the visit with the session that was used. */
interface SessionCallResult<Answer> {
  readonly visit: Visit;
  /** Whether a new session with the same answers replaced an expired session. */
  readonly renewed: boolean;
  readonly result: ApiResult<Answer>;
}

/** Calls the API in the session of a visit, and replaces an expired session. */
export class VisitSessions {
  readonly #api: MarketplaceApi;
  readonly #fields: readonly Field[];

  constructor(api: MarketplaceApi, fields: readonly Field[]) {
    this.#api = api;
    this.#fields = fields;
  }

  /** Creates a session with the tag of the variant, for a new page load. */
  async start(visit: Omit<Visit, 'subId' | 'sandbox'>, userAgent: string | undefined): Promise<ApiResult<Visit>> {
    const { variant, visitorId } = visit;
    const { referrerTag } = variants[variant];
    const tag = visitorId === null ? `${referrerTag}${previewSuffix}` : referrerTag;
    const session = await this.#api.createSession(tag, visitorId, userAgent);
    if (!session.ok) return session;
    return { ok: true, answer: { ...visit, subId: session.answer.sub_id, sandbox: session.answer.sandbox } };
  }

  /** Submits answers to the session. The returned visit contains only answers that the API accepted. */
  async submit(
    visit: Visit,
    entered: Answers,
    userAgent: string | undefined,
  ): Promise<SessionCallResult<InputsResponse>> {
    const done = await this.callInSession(visit, userAgent, (subId) =>
      this.#api.submitInputs(subId, toApiFields(this.#fields, entered)),
    );
    if (!done.result.ok) return done;
    return { ...done, visit: { ...done.visit, answers: { ...done.visit.answers, ...entered } } };
  }

  /** Calls the API with the `sub_id` of the visit. If the session has expired, creates one with the same answers and retries. */
  async callInSession<Answer>(
    visit: Visit,
    userAgent: string | undefined,
    ask: (subId: string) => Promise<ApiResult<Answer>>,
  ): Promise<SessionCallResult<Answer>> {
    const result = await ask(visit.subId);
    // A session of an earlier API key is not found, and is replaced like an expired session.
    if (result.ok || (result.code !== 'SUB_ID_EXPIRED' && result.code !== 'SUB_ID_NOT_FOUND')) {
      return { visit, renewed: false, result };
    }
    const begun = await this.start(visit, userAgent);
    if (!begun.ok) return { visit, renewed: false, result: begun };
    const inputs = await this.#api.submitInputs(begun.answer.subId, toApiFields(this.#fields, visit.answers));
    if (!inputs.ok) return { visit, renewed: false, result: inputs };
    return { visit: begun.answer, renewed: true, result: await ask(begun.answer.subId) };
  }
}
