import assert from 'node:assert/strict';
import type { MarketplaceView } from '../../src/index.ts';
import type { Fields } from '../support/vertical-fixture.ts';
import { offerLink } from './offer-link.ts';
import type { Partner } from './partner.ts';
import { mergeFields, readinessOf } from './pocket-fields.ts';
import type { SessionRecord } from './session-record.ts';
import type { VerificationOptions } from './verification-options.ts';
import { answered, inputsOf, marketplaceOf, sessionOf } from './wire.ts';

const maxOffers = 20;
/** Sessions whose offers others are compared with; nothing is expected of them. */
const referenceTag = 'reference';

/** The fields of a session are what the answered merges made of them, with or without one that was not answered. */
export async function compareFields(
  options: VerificationOptions,
  session: SessionRecord,
  offersToo: boolean,
): Promise<void> {
  const { wire, partners, tally } = options;
  const { subId, mode, fields, pendingMerge } = session;
  const partner = partners[mode];
  const held = inputsOf(await answered(() => wire.submitInputs(partner, subId, {})));
  const candidates = [fields, ...(pendingMerge === null ? [] : [mergeFields(fields, pendingMerge)])];
  let fitting = candidates.filter((candidate) => {
    const { match_readiness, missing_required, missing_conditional } = readinessOf(candidate);
    const wanted = { sub_id: subId, fields_accepted: [], fields_unknown: [], match_readiness };
    return JSON.stringify(held) === JSON.stringify({ ...wanted, missing_required, missing_conditional });
  });
  if (fitting.length > 0 && offersToo && held.match_readiness !== 'insufficient') {
    const view = await viewOf(options, partner, subId);
    const offers = comparable(view);
    // What its clicks are worth is not known where the credit band is not.
    const links =
      pendingMerge === null ? view.offers.map((offer) => offerLink(offer, mode, fields.credit_score_range)) : [];
    session.viewed(links, options.expectations.now());
    const references = await Promise.all(fitting.map((candidate) => referenceOffers(options, partner, candidate)));
    fitting = fitting.filter((_, index) => references[index] === offers);
    tally.add('sessions whose offers were compared');
  }
  if (fitting.length === 0) {
    const wanted = JSON.stringify(candidates);
    throw new Error(
      `the fields of ${subId} (tag ${session.tag}) are not ${wanted}: ${JSON.stringify(held)}${offersToo ? ', or its offers are not theirs' : ''}`,
    );
  }
  if (pendingMerge !== null) {
    // As its caller would: whatever became of the first, the same again leaves nothing open.
    const again = inputsOf(await answered(() => wire.submitInputs(partner, subId, pendingMerge)));
    session.fields = mergeFields(fields, pendingMerge);
    session.pendingMerge = null;
    assert.equal(again.match_readiness, readinessOf(session.fields).match_readiness);
  }
  tally.add('fields compared after a restart');
}

/** The offers of a new session that is given these fields at once. */
async function referenceOffers(options: VerificationOptions, partner: Partner, fields: Fields): Promise<string> {
  const { wire } = options;
  const created = await answered(() => wire.createSession(partner, { referrer_tag: referenceTag }, null));
  const { sub_id: subId } = sessionOf(created);
  await answered(() => wire.submitInputs(partner, subId, fields));
  return comparable(await viewOf(options, partner, subId));
}

async function viewOf({ wire }: VerificationOptions, partner: Partner, subId: string): Promise<MarketplaceView> {
  return marketplaceOf(await answered(() => wire.getMarketplace(partner, subId, maxOffers)));
}

/** Everything an answer says that depends on the borrower's fields. */
function comparable(view: MarketplaceView): string {
  const offers = view.offers.map(({ click_url: _, ...offer }) => offer);
  return JSON.stringify([view.match_quality, view.total_offers, offers]);
}
