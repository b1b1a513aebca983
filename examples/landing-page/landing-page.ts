import type { IncomingMessage } from 'node:http';
import type { ApiFailure, InputsResponse, MarketplaceApi } from './api/marketplace-api.ts';
import { ResultsCache } from './experiment/results.ts';
import { drawVariant, parseEmbedFormat, parseVariant, variants } from './experiment/variants.ts';
import {
  type Answers,
  decryptVisit,
  encryptVisit,
  type Visit,
  VisitSessions,
  visitKeyPurpose,
} from './experiment/visit.ts';
import { fields, irrelevantFields } from './form/fields.ts';
import { type FieldErrors, invalidFieldErrors, missingFieldErrors, parseAnswers } from './form/form-answers.ts';
import { askedFields, findQuestion, firstQuestion, nextQuestion, type Question } from './form/questions.ts';
import { questionPage, singleFormPage } from './pages/form-pages.ts';
import { formatWait } from './pages/formatting.ts';
import { messagePage } from './pages/layout.ts';
import { offerCardsPage, widgetPage } from './pages/offer-pages.ts';
import { resultsPage } from './pages/results-page.ts';
import type { Settings } from './settings.ts';
import { CookieCipher, cookieHeader, cookieName, readCookie } from './web/cookies.ts';
import type { Html } from './web/html.ts';
import { type AllowedHosts, type Reply, seeOther } from './web/reply.ts';
import { checkResultsAccess, isSameOrigin, readForm } from './web/requests.ts';

/** Maximum number of shown offers. Both variants use the same number, so that it does not affect the comparison. */
const offersShown = 10;
const variantCookieSeconds = 90 * 86_400;
/** Default delay before a retry if the response of the API has none. */
const retryAfterSeconds = 10;

/** Handles the routes of the landing page. Each route has one method. */
export class LandingPage {
  readonly #api: MarketplaceApi;
  readonly #visits: VisitSessions;
  readonly #results: ResultsCache;
  readonly #cookieCipher: CookieCipher;
  readonly #settings: Settings;
  readonly #log: (line: string) => void;

  constructor(api: MarketplaceApi, settings: Settings, log: (line: string) => void) {
    this.#api = api;
    this.#visits = new VisitSessions(api);
    this.#results = new ResultsCache(api);
    // The API key can be the secret, because its owner has access to every session anyway.
    this.#cookieCipher = new CookieCipher(settings.apiKey, visitKeyPurpose);
    this.#settings = settings;
    this.#log = log;
  }

  /** GET /: creates a session for the page load. `?variant=` forces a variant, `?embed=` the format of the offers. */
  async landing(request: IncomingMessage, query: URLSearchParams): Promise<Reply> {
    const forced = parseVariant(query.get('variant'));
    const known = parseVariant(this.#readCookie(request, 'variant'));
    const variant = forced ?? known ?? drawVariant();
    const begun = await this.#visits.start(
      {
        variant,
        assignment: forced === null ? 'drawn' : 'forced',
        embed: parseEmbedFormat(query.get('embed')),
        answers: {},
      },
      request.headers['user-agent'],
    );
    if (!begun.ok) return this.#apiFailurePage(begun, '/');
    // A forced variant does not change the assigned variant of the visitor.
    const sticky = forced === null ? [this.#cookie('variant', variant, variantCookieSeconds)] : [];
    return {
      status: 200,
      body: formPage(begun.answer, firstQuestion),
      cookies: [...sticky, this.#visitCookie(begun.answer)],
    };
  }

  /** GET /answers: shows the form with the earlier answers. */
  form(request: IncomingMessage): Reply {
    const visit = this.#readVisit(request);
    return visit === null ? seeOther('/') : { status: 200, body: formPage(visit, firstQuestion) };
  }

  /** GET /questions/ID: shows a question of variant B. */
  question(request: IncomingMessage, id: string): Reply {
    const visit = this.#readVisit(request);
    if (visit === null) return seeOther('/');
    const question = findQuestion(id);
    const isAsked = visit.variant === 'b' && question !== null && askedFields(question, visit.answers).length > 0;
    return isAsked ? { status: 200, body: formPage(visit, question) } : seeOther('/answers');
  }

  /** POST /answers: accepts the whole form of variant A, or one question of variant B. */
  async submit(request: IncomingMessage): Promise<Reply> {
    if (!isSameOrigin(request)) return errorPage(403, 'This form came from another site', 'Please fill it in here.');
    const read = await readForm(request);
    // The rest of the request body is not read, so the connection must be closed.
    if (!read.ok)
      return { ...errorPage(read.status, 'This is not our form', startAgainTitle), headers: { Connection: 'close' } };
    const visit = this.#readVisit(request);
    if (visit === null) {
      return errorPage(
        400,
        startAgainTitle,
        'Your visit is over, or your browser keeps no cookies, which this page needs.',
      );
    }
    const question = visit.variant === 'a' ? null : (findQuestion(read.form.get('question')) ?? firstQuestion);
    const asked = question === null ? [...fields.keys()] : askedFields(question, visit.answers);
    const skipped = question?.optional === true && read.form.get('skip') === 'yes';
    const entered = skipped ? {} : clearUnaskedAnswers(visit.answers, parseAnswers(read.form, asked));

    const { visit: now, result } = await this.#visits.submit(visit, entered, request.headers['user-agent']);
    const cookies = [this.#visitCookie(now)];
    if (!result.ok) return { ...this.#rejectedForm(now, question, entered, result), cookies };
    const next = nextStep(question, result.answer, skipped);
    if (next === 'offers') return seeOther('/offers', cookies);
    if (next !== null && next !== question) return seeOther(`/questions/${next.id}`, cookies);
    // All values are valid, but the API reports missing fields.
    const missing = [...result.answer.missing_required, ...result.answer.missing_conditional];
    const errors = missingFieldErrors(missing.filter((name) => asked.includes(name)));
    return { status: 422, body: formPage(now, question ?? firstQuestion, { errors }), cookies };
  }

  /** GET /offers: shows the offers. `?embed=` selects another format. */
  async offers(request: IncomingMessage, query: URLSearchParams): Promise<Reply> {
    const visit = this.#readVisit(request);
    if (visit === null) return seeOther('/');
    const embed = parseEmbedFormat(query.get('embed')) ?? visit.embed ?? variants[visit.variant].embed;
    return embed === 'json' ? this.#offerCards(request, visit) : this.#widget(request, visit, embed);
  }

  /** GET /results: shows the results of the experiment to its operator. */
  async results(request: IncomingMessage): Promise<Reply> {
    const access = checkResultsAccess(request, this.#settings.resultsPassword);
    if (access === 'closed') return this.notFound();
    if (access === 'ask') {
      const asking = { 'WWW-Authenticate': 'Basic realm="Results", charset="UTF-8"' };
      return { ...errorPage(401, 'Results', 'Please reload this page and give the password.'), headers: asking };
    }
    const results = await this.#results.read();
    return 'ok' in results ? this.#apiFailurePage(results, '/results') : { status: 200, body: resultsPage(results) };
  }

  notFound(): Reply {
    return errorPage(404, 'There is no such page', 'The address may have a slip in it.');
  }

  tooManyRequests(seconds: number): Reply {
    const said = errorPage(429, 'That was a lot at once', `Please wait ${formatWait(seconds)} and reload this page.`);
    return { ...said, headers: { 'Retry-After': String(seconds) } };
  }

  internalError(): Reply {
    return errorPage(500, 'Something went wrong on our side', 'Please try again in a moment.');
  }

  /** Renders offers from the JSON response of the API. The API counts each such response as a view. */
  async #offerCards(request: IncomingMessage, visit: Visit): Promise<Reply> {
    const done = await this.#visits.callInSession(visit, request.headers['user-agent'], (subId) =>
      this.#api.offers(subId, offersShown),
    );
    if (!done.result.ok) return this.#offersFailed(request, done.visit, done.result);
    const { answer } = done.result;
    const hosts = { images: answer.offers.map(({ logo_url }) => new URL(logo_url).origin) };
    const body = offerCardsPage(done.visit, answer, done.renewed);
    return { status: 200, body, hosts, cookies: [this.#visitCookie(done.visit)] };
  }

  /** Renders a page with the widget. The widget itself reports the view. */
  async #widget(request: IncomingMessage, visit: Visit, embed: 'iframe' | 'js'): Promise<Reply> {
    const done = await this.#visits.callInSession(visit, request.headers['user-agent'], (subId) =>
      this.#api.embed(subId, embed, offersShown),
    );
    if (!done.result.ok) return this.#offersFailed(request, done.visit, done.result);
    const { answer } = done.result;
    const hosts = this.#widgetHosts(embed, new URL(answer.src).origin);
    return {
      status: 200,
      body: widgetPage(done.visit, answer, done.renewed),
      hosts,
      cookies: [this.#visitCookie(done.visit)],
    };
  }

  /** Returns the hosts that the widget needs: its own host, and the host of the logos if that is different. */
  #widgetHosts(embed: 'iframe' | 'js', host: string): AllowedHosts {
    // A frame has its own Content-Security-Policy. The script of this page sets the height of the frame.
    if (embed === 'iframe') return { frames: [host], scripts: ["'self'"] };
    const { logoOrigin } = this.#settings;
    return { scripts: [host], connections: [host], images: logoOrigin === null ? [host] : [host, logoOrigin] };
  }

  /** Returns the page for a failed request for offers. If required fields are missing, the form shows which ones. */
  async #offersFailed(request: IncomingMessage, visit: Visit, failure: ApiFailure): Promise<Reply> {
    if (failure.code !== 'INSUFFICIENT_INPUTS') return this.#apiFailurePage(failure, '/offers');
    // A submission without fields changes nothing, and its response lists the missing fields.
    const { result, visit: now } = await this.#visits.submit(visit, {}, request.headers['user-agent']);
    if (!result.ok) return this.#apiFailurePage(result, '/offers');
    const question = nextQuestion(result.answer, true) ?? firstQuestion;
    const asked = now.variant === 'a' ? [...fields.keys()] : question.fields;
    const errors = missingFieldErrors(result.answer.missing_required.filter((name) => asked.includes(name)));
    const notice = 'We need a few more answers before we can look for offers.';
    return { status: 422, body: formPage(now, question, { errors, notice }), cookies: [this.#visitCookie(now)] };
  }

  /** Returns the form with the submitted answers and the errors of the API. */
  #rejectedForm(visit: Visit, question: Question | null, entered: Answers, failure: ApiFailure): Reply {
    const shown = { ...visit, answers: { ...visit.answers, ...entered } };
    const show = (more: FormRemarks) => formPage(shown, question ?? firstQuestion, more);
    if (failure.code === 'INVALID_FIELD_VALUE') {
      // The API reports invalid values before missing fields. The form shows both in one response.
      const empty = Object.keys(entered).filter((name) => fields.get(name)!.required && entered[name] === '');
      const errors = { ...missingFieldErrors(empty), ...invalidFieldErrors(failure.invalidFields) };
      return { status: 422, body: show({ errors }) };
    }
    const failed = this.#apiFailurePage(failure, '/');
    const seconds = retryDelaySeconds(failure);
    return seconds === null ? failed : { ...failed, body: show({ notice: retryLaterText(seconds) }) };
  }

  /** Logs a failure of the API, and returns the page that the visitor sees. */
  #apiFailurePage(failure: ApiFailure, retryPath: string): Reply {
    this.#log(failure.description);
    const seconds = retryDelaySeconds(failure);
    if (seconds === null) {
      return errorPage(502, 'Something went wrong on our side', 'We have noted it. Please try again later.');
    }
    const body = messagePage('We are very busy', retryLaterText(seconds), { to: retryPath, text: 'Try again' });
    return { status: 503, body, headers: { 'Retry-After': String(seconds) } };
  }

  #readVisit(request: IncomingMessage): Visit | null {
    return decryptVisit(this.#cookieCipher, this.#readCookie(request, 'visit'));
  }

  /** Returns the session cookie with the encrypted visit. */
  #visitCookie(visit: Visit): string {
    return this.#cookie('visit', encryptVisit(this.#cookieCipher, visit), null);
  }

  #cookie(name: string, value: string, maxAgeSeconds: number | null): string {
    return cookieHeader(name, value, { secure: this.#settings.behindProxy, maxAgeSeconds });
  }

  #readCookie(request: IncomingMessage, name: string): string | undefined {
    return readCookie(request.headers.cookie, cookieName(name, this.#settings.behindProxy));
  }
}

interface FormRemarks {
  readonly errors?: FieldErrors;
  readonly notice?: string;
}

const startAgainTitle = 'Please start again';

/** Renders the whole form in variant A, or one question in variant B. */
function formPage(visit: Visit, question: Question, { errors = {}, notice }: FormRemarks = {}): Html {
  const state = { answers: visit.answers, errors, notice: notice ?? null };
  return visit.variant === 'a' ? singleFormPage(state) : questionPage(question, state);
}

/** Returns the submitted answers, and empty answers for earlier fields that do not apply to the loan purpose. */
function clearUnaskedAnswers(before: Answers, entered: Answers): Answers {
  const answers = { ...before, ...entered };
  const stale = irrelevantFields(answers.loan_purpose).filter((name) => (answers[name] ?? '') !== '');
  return { ...entered, ...Object.fromEntries(stale.map((name) => [name, ''])) };
}

/** Returns the next page after accepted answers: the offers, a question, or null for the form of variant A again. */
function nextStep(question: Question | null, inputs: InputsResponse, skipped: boolean): Question | 'offers' | null {
  // The single form can be submitted without the optional fields. Fewer offers may match then.
  if (question === null) return inputs.match_readiness === 'insufficient' ? null : 'offers';
  return nextQuestion(inputs, skipped) ?? 'offers';
}

/** Returns the delay before a retry in seconds; null if a retry cannot succeed. */
function retryDelaySeconds({ code, retryAfterSeconds: seconds }: ApiFailure): number | null {
  const passing = ['RATE_LIMIT_EXCEEDED', 'SERVICE_UNAVAILABLE', 'UNREACHABLE'].includes(code);
  return passing ? (seconds ?? retryAfterSeconds) : null;
}

function retryLaterText(seconds: number): string {
  return `We cannot look for offers at the moment. Please try again in ${formatWait(seconds)}.`;
}

function errorPage(status: number, title: string, text: string): Reply {
  return { status, body: messagePage(title, text, { to: '/', text: 'To the first page' }) };
}
