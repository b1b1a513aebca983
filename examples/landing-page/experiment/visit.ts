import type { ApiResult, InputsResponse, MarketplaceApi } from '../api/marketplace-api.ts';
import { toApiFields } from '../form/form-answers.ts';
import type { CookieCipher } from '../web/cookies.ts';
import { type EmbedFormat, type Variant, variants } from './variants.ts';

/** One page load and what has come of it. Nothing of it is kept on the server. */
export interface Visit {
  readonly subId: string;
  readonly variant: Variant;
  readonly assignment: Assignment;
  /** Another way to show the offers than the variant's own, for looking. */
  readonly embed: EmbedFormat | null;
  readonly sandbox: boolean;
  /** As entered, by pocket field: to fill the form again, and to start a new session where one is over. */
  readonly answers: Answers;
}

/** Drawn for the visitor, or forced by `?variant=` for looking. Sessions carry it as metadata. */
type Assignment = 'drawn' | 'forced';

export type Answers = Readonly<Record<string, string>>;

/**
 * The visit travels in a sealed cookie. Sealed and not only signed, for it holds an income; and not only HttpOnly, since a
 * sub_id is no secret (every click URL has it), so that whoever finds one must not get to see that visitor's offers by it.
 */
export function encryptVisit(seal: CookieCipher, visit: Visit): string {
  return seal.encrypt(JSON.stringify(visit));
}

export function decryptVisit(seal: CookieCipher, cookie: string | undefined): Visit | null {
  const text = cookie === undefined ? null : seal.decrypt(cookie);
  // Nobody but this code has sealed it, so its shape needs no check. Another shape takes another purpose of the seal.
  return text === null ? null : (JSON.parse(text) as Visit);
}

export const visitKeyPurpose = 'visit, version 1';

/** What came of a call, in a session that lives. */
interface SessionCallResult<Answer> {
  readonly visit: Visit;
  /** The old session was over, so there is a new one with the same answers. */
  readonly renewed: boolean;
  readonly result: ApiResult<Answer>;
}

/** A visit's calls of the API, in a new session where the old one is over. */
export class VisitSessions {
  readonly #api: MarketplaceApi;

  constructor(api: MarketplaceApi) {
    this.#api = api;
  }

  /** A new page load: a new session under the variant's tag. */
  async start(visit: Omit<Visit, 'subId' | 'sandbox'>, userAgent: string | undefined): Promise<ApiResult<Visit>> {
    const { variant, assignment } = visit;
    const session = await this.#api.createSession(variants[variant].referrerTag, userAgent, { assignment });
    if (!session.ok) return session;
    return { ok: true, answer: { ...visit, subId: session.answer.sub_id, sandbox: session.answer.sandbox } };
  }

  /** Merges answers into the session. Only what the API accepted stays in the visit. */
  async submit(
    visit: Visit,
    entered: Answers,
    userAgent: string | undefined,
  ): Promise<SessionCallResult<InputsResponse>> {
    const done = await this.callInSession(visit, userAgent, (subId) =>
      this.#api.submitInputs(subId, toApiFields(entered)),
    );
    if (!done.result.ok) return done;
    return { ...done, visit: { ...done.visit, answers: { ...done.visit.answers, ...entered } } };
  }

  /** Calls the API in this visit's session. When the session is over, starts one with all its answers and calls again. */
  async callInSession<Answer>(
    visit: Visit,
    userAgent: string | undefined,
    ask: (subId: string) => Promise<ApiResult<Answer>>,
  ): Promise<SessionCallResult<Answer>> {
    const result = await ask(visit.subId);
    // A session of another key of ours is not found. For the visitor it is over like an expired one.
    if (result.ok || (result.code !== 'SUB_ID_EXPIRED' && result.code !== 'SUB_ID_NOT_FOUND')) {
      return { visit, renewed: false, result };
    }
    const begun = await this.start(visit, userAgent);
    if (!begun.ok) return { visit, renewed: false, result: begun };
    const inputs = await this.#api.submitInputs(begun.answer.subId, toApiFields(visit.answers));
    if (!inputs.ok) return { visit, renewed: false, result: inputs };
    return { visit: begun.answer, renewed: true, result: await ask(begun.answer.subId) };
  }
}
