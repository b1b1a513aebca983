import type { IncomingMessage } from 'node:http';
import type { ApiFailure, ExperimentResponse, InputsResponse, MarketplaceApi } from './api/marketplace-api.ts';
import { assignVariant, readVisitorId } from './experiment/experiment.ts';
import { ResultsCache } from './experiment/results.ts';
import { parseEmbedFormat, parseVariant, variants } from './experiment/variants.ts';
import {
  type Answers,
  decryptVisit,
  encryptVisit,
  type Visit,
  VisitSessions,
  visitKeyPurpose,
} from './experiment/visit.ts';
import { type Field, irrelevantFields } from './form/fields.ts';
import { type FieldErrors, invalidFieldErrors, missingFieldErrors, parseAnswers } from './form/form-answers.ts';
import { askedFields, findQuestion, nextQuestion, type Question } from './form/questions.ts';
import { questionPage, singleFormPage } from './pages/form-pages.ts';
import { formatWait } from './pages/formatting.ts';
import { errorPage, messagePage, notFoundPage } from './pages/layout.ts';
import { offerCardsPage, widgetPage } from './pages/offer-pages.ts';
import { resultsPage } from './pages/results-page.ts';
import { fieldsOf, type Product } from './products/product.ts';
import type { Settings } from './settings.ts';
import { CookieCipher, cookieHeader, cookieName, readCookie } from './web/cookies.ts';
import type { Html } from './web/html.ts';
import { type AllowedHosts, type Reply, seeOther } from './web/reply.ts';
import { checkResultsAccess, isSameOrigin, readForm } from './web/requests.ts';

/** Number of offers that are shown at first. Both variants use the same number, so that it does not affect the comparison. */
const offersShown = 10;
/** Maximum number of offers of the API, for visitors who want to see more. */
const offersShownMax = 20;
/** Lifetime of the visitor's ID: browsers keep no cookie for more than 400 days. */
const visitorCookieSeconds = 400 * 86_400;
/** Default delay before a retry if the response of the API has none. */
const retryAfterSeconds = 10;

/** Handles the routes of one product. Each route has one method. Paths are relative to the first page of the product. */
export class LandingPage {
  readonly #product: Product;
  readonly #fields: readonly Field[];
  readonly #firstQuestion: Question;
  readonly #api: MarketplaceApi;
  readonly #visits: VisitSessions;
  readonly #experiment: ExperimentResponse;
  readonly #results: ResultsCache;
  readonly #cookieCipher: CookieCipher;
  readonly #settings: Settings;
  readonly #log: (line: string) => void;

  /** @param apiKey key of the product's vertical. The cookies use it as secret, because its owner has access to every session anyway. */
  constructor(
    product: Product,
    api: MarketplaceApi,
    experiment: ExperimentResponse,
    apiKey: string,
    settings: Settings,
    log: (line: string) => void,
  ) {
    this.#product = product;
    this.#experiment = experiment;
    this.#fields = fieldsOf(product);
    this.#firstQuestion = product.questions[0]!;
    this.#api = api;
    this.#visits = new VisitSessions(api, this.#fields);
    this.#results = new ResultsCache(api, experiment);
    this.#cookieCipher = new CookieCipher(apiKey, visitKeyPurpose);
    this.#settings = settings;
    this.#log = log;
  }

  /**
   * GET: creates a session for the page load. The ID of the visitor determines the variant. `?variant=` shows a variant outside of the
   * experiment, and `?embed=` forces the format of the offers.
   */
  async landing(request: IncomingMessage, query: URLSearchParams): Promise<Reply> {
    const forced = parseVariant(query.get('variant'));
    const visitorId = readVisitorId(this.#readCookie(request, 'visitor'));
    const begun = await this.#visits.start(
      {
        variant: forced ?? assignVariant(this.#experiment, visitorId),
        visitorId: forced === null ? visitorId : null,
        embed: parseEmbedFormat(query.get('embed')),
        answers: {},
      },
      request.headers['user-agent'],
    );
    if (!begun.ok) return this.#apiFailurePage(begun, '');
    const { behindProxy: secure } = this.#settings;
    const visitorCookie = cookieHeader('visitor', visitorId, { secure, maxAgeSeconds: visitorCookieSeconds });
    return {
      status: 200,
      body: this.#formPage(begun.answer, this.#firstQuestion),
      cookies: [visitorCookie, this.#visitCookie(begun.answer)],
    };
  }

  /** GET /answers: shows the form with the earlier answers. */
  form(request: IncomingMessage): Reply {
    const visit = this.#readVisit(request);
    return visit === null ? this.#seeOther('') : { status: 200, body: this.#formPage(visit, this.#firstQuestion) };
  }

  /** GET /questions/ID: shows a question of variant B. */
  question(request: IncomingMessage, id: string): Reply {
    const visit = this.#readVisit(request);
    if (visit === null) return this.#seeOther('');
    const question = findQuestion(this.#product, id);
    const isAsked =
      visit.variant === 'b' && question !== null && askedFields(this.#product, question, visit.answers).length > 0;
    return isAsked ? { status: 200, body: this.#formPage(visit, question) } : this.#seeOther('/answers');
  }

  /** POST /answers: accepts the whole form of variant A, or one question of variant B. */
  async submit(request: IncomingMessage): Promise<Reply> {
    if (!isSameOrigin(request))
      return this.#errorPage(403, 'This form came from another site', 'Please fill it in here.');
    const read = await readForm(request);
    // The rest of the request body is not read, so the connection must be closed.
    if (!read.ok)
      return {
        ...this.#errorPage(read.status, 'This is not our form', startAgainTitle),
        headers: { Connection: 'close' },
      };
    const visit = this.#readVisit(request);
    if (visit === null) {
      return this.#errorPage(
        400,
        startAgainTitle,
        'Your visit is over, or your browser keeps no cookies, which this page needs.',
      );
    }
    const question =
      visit.variant === 'a' ? null : (findQuestion(this.#product, read.form.get('question')) ?? this.#firstQuestion);
    const asked = question === null ? this.#fieldNames : askedFields(this.#product, question, visit.answers);
    const skipped = question?.optional === true && read.form.get('skip') === 'yes';
    const entered = skipped ? {} : this.#clearUnaskedAnswers(visit.answers, parseAnswers(read.form, asked));

    const { visit: now, result } = await this.#visits.submit(visit, entered, request.headers['user-agent']);
    const cookies = [this.#visitCookie(now)];
    if (!result.ok) return { ...this.#rejectedForm(now, question, entered, result), cookies };
    const next = this.#nextStep(question, result.answer, skipped, now.answers);
    if (next === 'offers') return this.#seeOther('/offers', cookies);
    if (next !== null && next !== question) return this.#seeOther(`/questions/${next.id}`, cookies);
    // All values are valid, but the API reports missing fields.
    const { missing_required: required, missing_conditional: conditional } = result.answer;
    // Only a question of variant B must be answered or skipped. In the form of variant A, conditional fields can be empty.
    const missing = question === null ? required : [...required, ...conditional];
    const errors = missingFieldErrors(missing.filter((name) => asked.includes(name)));
    return { status: 422, body: this.#formPage(now, question ?? this.#firstQuestion, { errors }), cookies };
  }

  /** GET /offers: shows the offers. `?embed=` selects another format, `?more=yes` shows more offer cards. */
  async offers(request: IncomingMessage, query: URLSearchParams): Promise<Reply> {
    const visit = this.#readVisit(request);
    if (visit === null) return this.#seeOther('');
    const embed = parseEmbedFormat(query.get('embed')) ?? visit.embed ?? variants[visit.variant].embed;
    const count = query.get('more') === 'yes' ? offersShownMax : offersShown;
    return embed === 'json' ? this.#offerCards(request, visit, count) : this.#widget(request, visit, embed);
  }

  /** GET /results: shows the results of the experiment to its operator. */
  async results(request: IncomingMessage): Promise<Reply> {
    const access = checkResultsAccess(request, this.#settings.resultsPassword);
    if (access === 'closed') return notFoundPage(this.#product);
    if (access === 'ask') {
      const asking = { 'WWW-Authenticate': 'Basic realm="Results", charset="UTF-8"' };
      return { ...this.#errorPage(401, 'Results', 'Please reload this page and give the password.'), headers: asking };
    }
    const results = await this.#results.read();
    if ('ok' in results) return this.#apiFailurePage(results, '/results');
    return { status: 200, body: resultsPage(this.#product, results) };
  }

  /** Renders offers from the JSON response of the API. The API counts each such response as a view. */
  async #offerCards(request: IncomingMessage, visit: Visit, count: number): Promise<Reply> {
    const done = await this.#visits.callInSession(visit, request.headers['user-agent'], (subId) =>
      this.#api.offers(subId, count),
    );
    if (!done.result.ok) return this.#offersFailed(request, done.visit, done.result);
    const { answer } = done.result;
    const hosts = { images: answer.offers.map(({ logo_url }) => new URL(logo_url).origin) };
    const body = offerCardsPage(
      { product: this.#product, ...done },
      answer,
      Math.min(offersShownMax, answer.total_offers),
    );
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
      body: widgetPage({ product: this.#product, ...done }, answer),
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
    const question = nextQuestion(this.#product, result.answer, true, null, now.answers) ?? this.#firstQuestion;
    const asked = now.variant === 'a' ? this.#fieldNames : question.fields;
    const errors = missingFieldErrors(result.answer.missing_required.filter((name) => asked.includes(name)));
    const notice = 'We need a few more answers before we can look for offers.';
    return { status: 422, body: this.#formPage(now, question, { errors, notice }), cookies: [this.#visitCookie(now)] };
  }

  /** Returns the form with the submitted answers and the errors of the API. */
  #rejectedForm(visit: Visit, question: Question | null, entered: Answers, failure: ApiFailure): Reply {
    const shown = { ...visit, answers: { ...visit.answers, ...entered } };
    const show = (more: FormRemarks) => this.#formPage(shown, question ?? this.#firstQuestion, more);
    if (failure.code === 'INVALID_FIELD_VALUE') {
      // The API reports invalid values before missing fields. The form shows both in one response.
      const irrelevant = irrelevantFields(this.#fields, shown.answers);
      const empty = this.#fields
        .filter(({ name, required }) => required && entered[name] === '')
        .map(({ name }) => name);
      const errors = {
        ...missingFieldErrors(empty.filter((name) => !irrelevant.includes(name))),
        ...invalidFieldErrors(this.#fields, failure.invalidFields),
      };
      return { status: 422, body: show({ errors }) };
    }
    const failed = this.#apiFailurePage(failure, '');
    const seconds = retryDelaySeconds(failure);
    return seconds === null ? failed : { ...failed, body: show({ notice: retryLaterText(seconds) }) };
  }

  /** Logs a failure of the API, and returns the page that the visitor sees. */
  #apiFailurePage(failure: ApiFailure, retryPath: string): Reply {
    this.#log(failure.description);
    const seconds = retryDelaySeconds(failure);
    if (seconds === null) {
      return this.#errorPage(502, 'Something went wrong on our side', 'We have noted it. Please try again later.');
    }
    const body = messagePage({
      title: 'We are very busy',
      text: retryLaterText(seconds),
      link: { to: this.#path(retryPath), text: 'Try again' },
      product: this.#product,
    });
    return { status: 503, body, headers: { 'Retry-After': String(seconds) } };
  }

  /** Renders the whole form in variant A, or one question in variant B. */
  #formPage(visit: Visit, question: Question, { errors = {}, notice }: FormRemarks = {}): Html {
    const state = { product: this.#product, answers: visit.answers, errors, notice: notice ?? null };
    return visit.variant === 'a' ? singleFormPage(state) : questionPage(question, state);
  }

  /** Returns the submitted answers, and empty answers for earlier fields whose condition no longer holds. */
  #clearUnaskedAnswers(before: Answers, entered: Answers): Answers {
    const answers = { ...before, ...entered };
    const stale = irrelevantFields(this.#fields, answers).filter((name) => (answers[name] ?? '') !== '');
    return { ...entered, ...Object.fromEntries(stale.map((name) => [name, ''])) };
  }

  /** Returns the next page after accepted answers: the offers, a question, or null for the form of variant A again. */
  #nextStep(
    question: Question | null,
    inputs: InputsResponse,
    skipped: boolean,
    answers: Answers,
  ): Question | 'offers' | null {
    // The single form can be submitted without the optional fields. Fewer offers may match then.
    if (question === null) return inputs.match_readiness === 'insufficient' ? null : 'offers';
    return nextQuestion(this.#product, inputs, skipped, question, answers) ?? 'offers';
  }

  get #fieldNames(): readonly string[] {
    return this.#fields.map(({ name }) => name);
  }

  #path(path: string): string {
    return `/${this.#product.segment}${path}`;
  }

  #seeOther(path: string, cookies?: readonly string[]): Reply {
    return seeOther(this.#path(path), cookies);
  }

  #errorPage(status: number, title: string, text: string): Reply {
    return errorPage(status, title, text, this.#product);
  }

  #readVisit(request: IncomingMessage): Visit | null {
    return decryptVisit(this.#cookieCipher, this.#readCookie(request, this.#visitCookieName));
  }

  #readCookie(request: IncomingMessage, name: string): string | undefined {
    return readCookie(request.headers.cookie, cookieName(name, this.#settings.behindProxy));
  }

  /** Returns the session cookie with the encrypted visit. */
  #visitCookie(visit: Visit): string {
    const options = { secure: this.#settings.behindProxy, maxAgeSeconds: null };
    return cookieHeader(this.#visitCookieName, encryptVisit(this.#cookieCipher, visit), options);
  }

  /** A visitor can have a visit of each product. */
  get #visitCookieName(): string {
    return `visit-${this.#product.segment}`;
  }
}

interface FormRemarks {
  readonly errors?: FieldErrors;
  readonly notice?: string;
}

const startAgainTitle = 'Please start again';

/** Returns the delay before a retry in seconds; null if a retry cannot succeed. */
function retryDelaySeconds({ code, retryAfterSeconds: seconds }: ApiFailure): number | null {
  const passing = ['RATE_LIMIT_EXCEEDED', 'SERVICE_UNAVAILABLE', 'UNREACHABLE'].includes(code);
  return passing ? (seconds ?? retryAfterSeconds) : null;
}

function retryLaterText(seconds: number): string {
  return `We cannot look for offers at the moment. Please try again in ${formatWait(seconds)}.`;
}
