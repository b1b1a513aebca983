import type { IncomingMessage } from 'node:http';
import type { ApiFailure, MarketplaceApi } from './api/marketplace-api.ts';
import type { InputsAnswer } from './api/shapes.ts';
import { ResultsReader } from './experiment/results.ts';
import { asEmbed, asVariant, drawVariant, variants } from './experiment/variants.ts';
import { type Answers, closeVisit, openVisit, type Visit, visitSealPurpose } from './experiment/visit.ts';
import { VisitFlow } from './experiment/visit-flow.ts';
import { errorsOfInvalid, errorsOfMissing, type FieldErrors } from './form/field-errors.ts';
import { fields, unaskedFields } from './form/fields.ts';
import { readAnswers } from './form/pocket-fields.ts';
import { askedFields, firstQuestion, nextQuestion, type Question, questionOf } from './form/questions.ts';
import { calmFormPage } from './pages/calm-form-page.ts';
import { messagePage } from './pages/message-page.ts';
import { offerCardsPage } from './pages/offer-cards-page.ts';
import { questionPage } from './pages/question-page.ts';
import { resultsPage } from './pages/results-page.ts';
import { waitInWords } from './pages/wait-in-words.ts';
import { widgetPage } from './pages/widget-page.ts';
import type { Settings } from './settings.ts';
import { cookieHeader, cookieName, readCookie } from './web/cookies.ts';
import type { Html } from './web/html.ts';
import { readForm } from './web/read-form.ts';
import { type ForeignHosts, type Reply, seeOther } from './web/reply.ts';
import { resultsAccess } from './web/results-access.ts';
import { isFromOurPages } from './web/same-site.ts';
import { Seal } from './web/seal.ts';

/** In both variants, or their figures would tell of the number of offers instead of the pages. */
const offersShown = 10;
const variantCookieSeconds = 90 * 86_400;
/** When the API does not say. */
const retryAfterSeconds = 10;

/** The pages of the experiment, one method each. */
export class LandingPage {
  readonly #api: MarketplaceApi;
  readonly #flow: VisitFlow;
  readonly #results: ResultsReader;
  readonly #seal: Seal;
  readonly #settings: Settings;
  readonly #log: (line: string) => void;

  constructor(api: MarketplaceApi, settings: Settings, log: (line: string) => void) {
    this.#api = api;
    this.#flow = new VisitFlow(api);
    this.#results = new ResultsReader(api);
    // Whoever has the API key could see every session anyway.
    this.#seal = new Seal(settings.apiKey, visitSealPurpose);
    this.#settings = settings;
    this.#log = log;
  }

  /** GET /: a page load, so a session. `?variant=` forces what is otherwise drawn, `?embed=` how offers are shown later. */
  async landing(request: IncomingMessage, query: URLSearchParams): Promise<Reply> {
    const forced = asVariant(query.get('variant'));
    const known = asVariant(this.#cookieOf(request, 'variant'));
    const variant = forced ?? known ?? drawVariant();
    const begun = await this.#flow.begin(
      { variant, assignment: forced === null ? 'drawn' : 'forced', embed: asEmbed(query.get('embed')), answers: {} },
      request.headers['user-agent'],
    );
    if (!begun.ok) return this.#failed(begun, '/');
    // A forced look does not move the visitor to another variant.
    const sticky = forced === null ? [this.#cookie('variant', variant, variantCookieSeconds)] : [];
    return { status: 200, body: formPage(begun.answer, firstQuestion), cookies: [...sticky, this.#kept(begun.answer)] };
  }

  /** GET /answers: the form again, as it was sent. */
  form(request: IncomingMessage): Reply {
    const visit = this.#visitOf(request);
    return visit === null ? seeOther('/') : { status: 200, body: formPage(visit, firstQuestion) };
  }

  /** GET /questions/ID: a question of variant B. */
  question(request: IncomingMessage, id: string): Reply {
    const visit = this.#visitOf(request);
    if (visit === null) return seeOther('/');
    const question = questionOf(id);
    const isAsked = visit.variant === 'b' && question !== null && askedFields(question, visit.answers).length > 0;
    return isAsked ? { status: 200, body: formPage(visit, question) } : seeOther('/answers');
  }

  /** POST /answers: the whole form of variant A, or one question of variant B. */
  async submit(request: IncomingMessage): Promise<Reply> {
    if (!isFromOurPages(request)) return refusal(403, 'This form came from another site', 'Please fill it in here.');
    const read = await readForm(request);
    // The rest of what is being sent is of no use to anybody.
    if (!read.ok)
      return { ...refusal(read.status, 'This is not our form', startAgain), headers: { Connection: 'close' } };
    const visit = this.#visitOf(request);
    if (visit === null) {
      return refusal(400, startAgain, 'Your visit is over, or your browser keeps no cookies, which this page needs.');
    }
    const question = visit.variant === 'a' ? null : (questionOf(read.form.get('question')) ?? firstQuestion);
    const asked = question === null ? [...fields.keys()] : askedFields(question, visit.answers);
    const skipped = question?.optional === true && read.form.get('skip') === 'yes';
    const entered = skipped ? {} : clearUnasked(visit.answers, readAnswers(read.form, asked));

    const { visit: now, result } = await this.#flow.submit(visit, entered, request.headers['user-agent']);
    const cookies = [this.#kept(now)];
    if (!result.ok) return { ...this.#refusedForm(now, question, entered, result), cookies };
    const next = nextStep(question, result.answer, skipped);
    if (next === 'offers') return seeOther('/offers', cookies);
    if (next !== null && next !== question) return seeOther(`/questions/${next.id}`, cookies);
    // Nothing was wrong, but something is missing: the API names it.
    const missing = [...result.answer.missing_required, ...result.answer.missing_conditional];
    const errors = errorsOfMissing(missing.filter((name) => asked.includes(name)));
    return { status: 422, body: formPage(now, question ?? firstQuestion, { errors }), cookies };
  }

  /** GET /offers: what it all is for. `?embed=` shows the offers in another way. */
  async offers(request: IncomingMessage, query: URLSearchParams): Promise<Reply> {
    const visit = this.#visitOf(request);
    if (visit === null) return seeOther('/');
    const embed = asEmbed(query.get('embed')) ?? visit.embed ?? variants[visit.variant].embed;
    return embed === 'json' ? this.#cards(request, visit) : this.#widget(request, visit, embed);
  }

  /** GET /results: for whoever runs the experiment. */
  async results(request: IncomingMessage): Promise<Reply> {
    const access = resultsAccess(request, this.#settings.resultsPassword);
    if (access === 'closed') return this.notFound();
    if (access === 'ask') {
      const asking = { 'WWW-Authenticate': 'Basic realm="Results", charset="UTF-8"' };
      return { ...refusal(401, 'Results', 'Please reload this page and give the password.'), headers: asking };
    }
    const results = await this.#results.read();
    return 'ok' in results ? this.#failed(results, '/results') : { status: 200, body: resultsPage(results) };
  }

  notFound(): Reply {
    return refusal(404, 'There is no such page', 'The address may have a slip in it.');
  }

  tooMany(seconds: number): Reply {
    const said = refusal(429, 'That was a lot at once', `Please wait ${waitInWords(seconds)} and reload this page.`);
    return { ...said, headers: { 'Retry-After': String(seconds) } };
  }

  broken(): Reply {
    return refusal(500, 'Something went wrong on our side', 'Please try again in a moment.');
  }

  /** The offers as data, drawn by ourselves. Each such answer is a view. */
  async #cards(request: IncomingMessage, visit: Visit): Promise<Reply> {
    const done = await this.#flow.call(visit, request.headers['user-agent'], (subId) =>
      this.#api.offers(subId, offersShown),
    );
    if (!done.result.ok) return this.#noOffers(request, done.visit, done.result);
    const { answer } = done.result;
    const hosts = { images: answer.offers.map(({ logo_url }) => new URL(logo_url).origin) };
    const body = offerCardsPage(done.visit, answer, done.renewed);
    return { status: 200, body, hosts, cookies: [this.#kept(done.visit)] };
  }

  /** The offers drawn by the widget, which counts its view itself. */
  async #widget(request: IncomingMessage, visit: Visit, embed: 'iframe' | 'js'): Promise<Reply> {
    const done = await this.#flow.call(visit, request.headers['user-agent'], (subId) =>
      this.#api.embed(subId, embed, offersShown),
    );
    if (!done.result.ok) return this.#noOffers(request, done.visit, done.result);
    const { answer } = done.result;
    const hosts = this.#widgetHosts(embed, new URL(answer.src).origin);
    return {
      status: 200,
      body: widgetPage(done.visit, answer, done.renewed),
      hosts,
      cookies: [this.#kept(done.visit)],
    };
  }

  /** What the widget needs, learnt from its address: its own host, and that of the logos where it is another. */
  #widgetHosts(embed: 'iframe' | 'js', host: string): ForeignHosts {
    // A frame is a page of its own, with rules of its own; the script of this page sets its height.
    if (embed === 'iframe') return { frames: [host], scripts: ["'self'"] };
    const { logoOrigin } = this.#settings;
    return { scripts: [host], connections: [host], images: logoOrigin === null ? [host] : [host, logoOrigin] };
  }

  /** Offers could not be had. Where answers are missing, the form comes back and says which. */
  async #noOffers(request: IncomingMessage, visit: Visit, failure: ApiFailure): Promise<Reply> {
    if (failure.code !== 'INSUFFICIENT_INPUTS') return this.#failed(failure, '/offers');
    // Submitting nothing changes nothing, and tells what is missing.
    const { result, visit: now } = await this.#flow.submit(visit, {}, request.headers['user-agent']);
    if (!result.ok) return this.#failed(result, '/offers');
    const question = nextQuestion(result.answer, true) ?? firstQuestion;
    const asked = now.variant === 'a' ? [...fields.keys()] : question.fields;
    const errors = errorsOfMissing(result.answer.missing_required.filter((name) => asked.includes(name)));
    const notice = 'We need a few more answers before we can look for offers.';
    return { status: 422, body: formPage(now, question, { errors, notice }), cookies: [this.#kept(now)] };
  }

  /** The form with what was entered, and why it was not taken. */
  #refusedForm(visit: Visit, question: Question | null, entered: Answers, failure: ApiFailure): Reply {
    const shown = { ...visit, answers: { ...visit.answers, ...entered } };
    const show = (more: Remarks) => formPage(shown, question ?? firstQuestion, more);
    if (failure.code === 'INVALID_FIELD_VALUE') {
      // The API judges values first. What is empty is ours to name, or the visitor would hear of it a round later.
      const empty = Object.keys(entered).filter((name) => fields.get(name)!.required && entered[name] === '');
      const errors = { ...errorsOfMissing(empty), ...errorsOfInvalid(failure.invalidFields) };
      return { status: 422, body: show({ errors }) };
    }
    const failed = this.#failed(failure, '/');
    const seconds = secondsToWait(failure);
    return seconds === null ? failed : { ...failed, body: show({ notice: busyText(seconds) }) };
  }

  /** What a visitor sees when the API does not do its part, and a line for the log. */
  #failed(failure: ApiFailure, retryPath: string): Reply {
    this.#log(failure.description);
    const seconds = secondsToWait(failure);
    if (seconds === null) {
      return refusal(502, 'Something went wrong on our side', 'We have noted it. Please try again later.');
    }
    const body = messagePage('We are very busy', busyText(seconds), { to: retryPath, text: 'Try again' });
    return { status: 503, body, headers: { 'Retry-After': String(seconds) } };
  }

  #visitOf(request: IncomingMessage): Visit | null {
    return openVisit(this.#seal, this.#cookieOf(request, 'visit'));
  }

  /** The cookie that a visit travels in, until the browser is closed. */
  #kept(visit: Visit): string {
    return this.#cookie('visit', closeVisit(this.#seal, visit), null);
  }

  #cookie(name: string, value: string, maxAgeSeconds: number | null): string {
    return cookieHeader(name, value, { secure: this.#settings.behindProxy, maxAgeSeconds });
  }

  #cookieOf(request: IncomingMessage, name: string): string | undefined {
    return readCookie(request.headers.cookie, cookieName(name, this.#settings.behindProxy));
  }
}

interface Remarks {
  readonly errors?: FieldErrors;
  readonly notice?: string;
}

const startAgain = 'Please start again';

/** The visitor's form: all of it in variant A, this question in variant B. */
function formPage(visit: Visit, question: Question, { errors = {}, notice }: Remarks = {}): Html {
  const state = { answers: visit.answers, errors, notice: notice ?? null };
  return visit.variant === 'a' ? calmFormPage(state) : questionPage(question, state);
}

/** What was entered. Answers to what this purpose of the loan does not ask become empty, also those given before it was changed. */
function clearUnasked(before: Answers, entered: Answers): Answers {
  const answers = { ...before, ...entered };
  const stale = unaskedFields(answers.loan_purpose).filter((name) => (answers[name] ?? '') !== '');
  return { ...entered, ...Object.fromEntries(stale.map((name) => [name, ''])) };
}

/** Where accepted answers lead: to the offers, on to a question, or back to the one form of variant A (null). */
function nextStep(question: Question | null, inputs: InputsAnswer, skipped: boolean): Question | 'offers' | null {
  // The one form does not insist on what only helps: fewer lenders fit then, which is fine.
  if (question === null) return inputs.match_readiness === 'insufficient' ? null : 'offers';
  return nextQuestion(inputs, skipped) ?? 'offers';
}

/** Null where waiting does not help. */
function secondsToWait({ code, retryAfterSeconds: seconds }: ApiFailure): number | null {
  const passing = ['RATE_LIMIT_EXCEEDED', 'SERVICE_UNAVAILABLE', 'UNREACHABLE'].includes(code);
  return passing ? (seconds ?? retryAfterSeconds) : null;
}

function busyText(seconds: number): string {
  return `We cannot look for offers at the moment. Please try again in ${waitInWords(seconds)}.`;
}

function refusal(status: number, title: string, text: string): Reply {
  return { status, body: messagePage(title, text, { to: '/', text: 'To the first page' }) };
}
