import Type from 'typebox';
import type { OfferUrls } from '../catalogs/offer-view.ts';
import type { VerticalWithProduct } from '../catalogs/product.ts';
import type { CancelSignal } from '../domain/async.ts';
import { formatIsoTimestamp } from '../domain/calendar.ts';
import { absentValue, findFieldIndex } from '../domain/field-vector.ts';
import { nullableSchema } from '../domain/nullable-schema.ts';
import { failureOutcome, failureOutcomeWithCode, type Outcome } from '../domain/outcome.ts';
import { computeMatchReadiness } from '../domain/pocket-fields.ts';
import { decodeSubId } from '../ids/sub-id.ts';
import type { WidgetTokens } from '../ids/widget-token.ts';
import { type FindSessionDeps, parseSubIdAndFindSession, requireLiveSession } from '../sessions/find-session.ts';
import type { Session } from '../sessions/session.ts';
import { parseWidgetLoadId } from '../widgets/widget-beacon.ts';
import { createEmbedPolicy, type EmbedPolicy } from '../widgets/widget-embedding.ts';
import { renderEnvelopeMembers, selectionParameters } from './get-marketplace.ts';
import { offersProperties } from './offer-schemas.ts';
import { MemberValidator, type ParameterTexts, sessionMember } from './request-members.ts';
import { timestampSchema, type ValueOf, widgetLoadIdSchema } from './schema-parts.ts';
import { type OffersResult, type ShowOffersDeps, selectOffersAndRecordView } from './show-offers.ts';

export interface VerifyWidgetLinkDeps extends FindSessionDeps {
  readonly tokens: WidgetTokens;
  /** Returns the origins of the pages that may embed the widgets of an account. */
  readonly originsOf: (account: number) => readonly string[];
  /** Origin of the iframe page. */
  readonly ownOrigin: string;
}

/** A verified link to a widget, whose session may have expired. */
export interface WidgetLink {
  readonly policy: EmbedPolicy;
  /** Expiry of the session and the token; milliseconds since the Unix epoch. */
  readonly expiresMs: number;
  /** The live session, or the error `SUB_ID_EXPIRED`. */
  readonly session: Outcome<Session>;
}

/**
 * Verifies a widget link (docs/contract.md#widget-tokens). Returns null for an invalid link. Widget requests need no API key, and do not
 * count towards the rate limits of a key.
 */
export function verifyWidgetLink(deps: VerifyWidgetLinkDeps, sub: string, token: string): WidgetLink | null {
  const resolved = parseSubIdAndFindSession(deps, sub);
  if (resolved === null) return null;
  const bytes = deps.subIds.toBytes(sub);
  const expiresMs = deps.tokens.verify(bytes, token);
  if (expiresMs === null) return null;
  const { account, mode } = decodeSubId(bytes);
  const policy = createEmbedPolicy(mode, deps.originsOf(account), deps.ownOrigin);
  const isExpired = deps.clock.wallMs() >= expiresMs;
  const session = isExpired ? failureOutcomeWithCode('SUB_ID_EXPIRED') : requireLiveSession(deps, resolved);
  return { policy, expiresMs, session };
}

/** Parameters of a link to a widget. */
export const widgetLinkParameters = {
  sub: sessionMember,
  token: { description: 'The token of the widget.', schema: Type.String() },
};

/** Parameters of `GET /w/offers`. */
export const widgetOffersParameters = {
  ...widgetLinkParameters,
  load: { description: 'The id of the widget load.', schema: widgetLoadIdSchema },
  ...selectionParameters,
};

/** Parameters of the iframe page. */
export const widgetPageParameters = {
  ...widgetLinkParameters,
  ...selectionParameters,
  // Other values are accepted, too, so the schemas have no list and no pattern.
  theme: {
    description:
      'Colors of the widget: `light`, `dark`, or `auto` for the preference of the visitor. Any other value has the effect of the default.',
    schema: Type.String({ default: 'light' }),
  },
  accent: {
    description:
      'Color of buttons and links: three or six hexadecimal digits, such as `0a7d5f`. Any other value has the effect of the default.',
    schema: Type.Optional(Type.String()),
  },
};

const selectionValidator = new MemberValidator({ load: widgetOffersParameters.load, ...selectionParameters });

/** The response of `GET /w/offers`: an API response with offers, without `explain` and `ignored`, and with two more members. */
export type WidgetOffersResponse = ValueOf<ReturnType<typeof createWidgetOffersSchema>>;

export function createWidgetOffersSchema(vertical: VerticalWithProduct) {
  return Type.Object(
    {
      loan_amount: nullableSchema(
        Type.Integer({ description: 'The requested amount in USD; `null` for products without loan amounts.' }),
      ),
      expires_at: timestampSchema('When session and token expire'),
      ...offersProperties(vertical),
    },
    { title: 'WidgetOffers' },
  );
}

/**
 * Selects the offers of a widget (docs/contract.md#widget-views). The first response to a widget load counts as one
 * view; later responses to the same load do not count. Returns synchronously if `selectOffersAndRecordView` returns synchronously.
 */
export function showWidgetOffers(
  deps: ShowOffersDeps,
  session: Session,
  subId: string,
  texts: ParameterTexts,
  countsAsView: boolean,
  signal: CancelSignal,
): Outcome<OffersResult> | Promise<Outcome<OffersResult>> {
  const { vertical } = session.tenant;
  const selection = selectionValidator.parseTexts(texts, vertical);
  if (!selection.ok) return selection;
  const { load, sort, max_offers: maxOffers } = selection.value;
  const { pocketFields: borrower, fieldsRevision: revision } = session;
  const readiness = computeMatchReadiness(vertical, borrower);
  if (readiness.matchReadiness === 'insufficient') {
    return failureOutcome({ code: 'INSUFFICIENT_INPUTS', missingRequired: readiness.missingRequired });
  }
  return selectOffersAndRecordView(deps, session, {
    subId,
    borrower,
    revision,
    readiness,
    sort,
    maxOffers,
    explain: false,
    countsAsView,
    load: { id: parseWidgetLoadId(load)!, usage: session.widgetUsage },
    signal,
  });
}

/** Renders the response of `GET /w/offers`, a `WidgetOffersResponse`. */
export function renderWidgetOffersJson(
  loanAmount: number | null,
  expiresMs: number,
  result: OffersResult,
  urls: OfferUrls,
): string {
  return (
    `{"loan_amount":${loanAmount},"expires_at":"${formatIsoTimestamp(expiresMs)}",` +
    `${renderEnvelopeMembers(result, urls)}}`
  );
}

/** Returns the requested loan amount in USD; null in verticals without loan amounts, and if the session has no amount. */
export function readLoanAmount({ tenant: { vertical }, pocketFields }: Session): number | null {
  const amount = pocketFields[findFieldIndex(vertical, vertical.roles.amount)] ?? absentValue;
  return amount === absentValue ? null : amount;
}
