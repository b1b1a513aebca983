import { bounds } from '../bounds.ts';
import { choiceValues } from '../verticals/choice-values.ts';
import type { Vertical } from '../verticals/vertical.ts';
import { type CatalogFaults, type CatalogPath, pathText } from './catalog-faults.ts';
import { type CatalogBand, type CatalogFile, type CatalogOffer, offerValidator } from './catalog-schema.ts';
import { servedShare } from './credit-minimum.ts';
import { findCriterionFaults } from './criterion-faults.ts';
import { offerPayoutModel } from './payout-model.ts';

/**
 * Finds what no schema can say: words that are no value of their field, limits that contradict each other, repeated names.
 * `onShare` is told before each lender which share of them is done, from 0 to 1.
 */
export function findSenseFaults(
  value: unknown,
  vertical: Vertical,
  faults: CatalogFaults,
  onShare?: (share: number) => void,
): void {
  const catalog = value as CatalogFile;
  if (typeof value !== 'object' || value === null) return;
  if (typeof catalog.vertical === 'string' && catalog.vertical !== vertical.segment) {
    faults.add(['vertical'], `must be "${vertical.segment}"`);
  }
  findTornText(catalog.disclosure, ['disclosure'], faults);
  findStateFaults(catalog.state_rules, ['state_rules'], vertical, faults);
  if (!Array.isArray(catalog.lenders)) return;

  const ids = new Map<string, CatalogPath>();
  const names = new Map<string, CatalogPath>();
  const terms = new Set<number>();
  for (const [lenderAt, lender] of catalog.lenders.entries()) {
    onShare?.(lenderAt / catalog.lenders.length);
    const lenderPath = ['lenders', lenderAt];
    if (typeof lender !== 'object' || lender === null) continue;
    if (typeof lender.name === 'string') {
      const path = [...lenderPath, 'name'];
      findRepetition(names, lender.name, path, faults);
      if (/\p{Cc}/u.test(lender.name)) faults.add(path, 'must hold no control characters');
      findTornText(lender.name, path, faults);
    }
    findStateFaults(lender.state_rules, [...lenderPath, 'state_rules'], vertical, faults);
    if (!Array.isArray(lender.offers)) continue;
    for (const [offerAt, offer] of lender.offers.entries()) {
      const path = [...lenderPath, 'offers', offerAt];
      // Asked of the offer itself: the faults named so far may not be all there are.
      if (!offerValidator.Check(offer)) continue;
      findRepetition(ids, offer.id, [...path, 'id'], faults);
      for (const months of offer.term_months) terms.add(months);
      findOfferFaults(offer, path, vertical, faults);
    }
  }
  if (terms.size > bounds.catalogTermsMax) {
    faults.add(['lenders'], `must name at most ${bounds.catalogTermsMax} different terms`);
  }
}

/** JSON can name half a character by an escape. Every encoding of it would be another text. */
function findTornText(text: unknown, path: CatalogPath, faults: CatalogFaults): void {
  if (typeof text === 'string' && !text.isWellFormed()) faults.add(path, 'must hold no half of a surrogate pair');
}

/** The rules may be misshapen; the state they are for is judged all the same. */
function findStateFaults(rules: unknown, path: CatalogPath, vertical: Vertical, faults: CatalogFaults): void {
  if (typeof rules !== 'object' || rules === null || Array.isArray(rules)) return;
  const states = choiceValues(vertical, vertical.roles.state);
  for (const [state, rule] of Object.entries(rules)) {
    if (!states.includes(state)) faults.add([...path, state], `is not a value of ${vertical.roles.state}`);
    if (rule?.min_age !== undefined && vertical.roles.birthdate === undefined) {
      faults.add([...path, state, 'min_age'], 'has no meaning in a vertical that does not ask for a birthdate');
    }
  }
}

function findRepetition(seen: Map<string, CatalogPath>, value: string, path: CatalogPath, faults: CatalogFaults): void {
  const first = seen.get(value);
  if (first === undefined) seen.set(value, path);
  else faults.add(path, `is the same as ${pathText(first)}`);
}

function findOfferFaults(offer: CatalogOffer, path: CatalogPath, vertical: Vertical, faults: CatalogFaults): void {
  const fault = (member: string, problem: string) => faults.add([...path, member], problem);
  const landingUrlFault = landingUrlProblem(offer.landing_url);
  if (landingUrlFault !== null) fault('landing_url', landingUrlFault);
  for (const list of ['features', 'term_months'] as const) {
    if (new Set<unknown>(offer[list]).size < offer[list].length) fault(list, 'must not repeat a value');
  }
  if (offer.amount.min > offer.amount.max) fault('amount', 'min must not exceed max');
  const { monthlyDebt, coBorrower } = vertical.roles;
  if (offer.max_debt_to_income_percent !== undefined && monthlyDebt === undefined) {
    fault('max_debt_to_income_percent', 'has no meaning in a vertical that does not ask for monthly debt');
  }
  if (offer.joint_applications !== undefined && coBorrower === undefined) {
    fault('joint_applications', 'has no meaning in a vertical that does not ask for a co-borrower');
  }
  findCreditMinimumFaults(offer, path, vertical, faults);
  findStateFaults(offer.state_rules, [...path, 'state_rules'], vertical, faults);
  for (const [at, criterion] of offer.criteria.entries()) {
    findCriterionFaults(criterion, [...path, 'criteria', at], vertical, faults);
  }
  const bandNames = choiceValues(vertical, vertical.roles.creditBand);
  const bands = Object.entries(offer.bands);
  if (bands.length === 0) fault('bands', 'must hold at least one band');
  for (const [name, band] of bands) {
    const bandPath = [...path, 'bands', name];
    if (!bandNames.includes(name)) faults.add(bandPath, `is not a value of ${vertical.roles.creditBand}`);
    findBandFaults(offer, band, bandPath, vertical, faults);
  }
}

function findCreditMinimumFaults(
  offer: CatalogOffer,
  path: CatalogPath,
  vertical: Vertical,
  faults: CatalogFaults,
): void {
  if (offer.min_credit_score === undefined) return;
  const at = [...path, 'min_credit_score'];
  const bandNames = choiceValues(vertical, vertical.roles.creditBand);
  const served = bandNames.some(
    (name, band) => offer.bands[name] !== undefined && servedShare(offer, vertical, band) > 0,
  );
  if (vertical.creditScores === undefined) {
    faults.add(at, 'has no meaning in a vertical whose credit bands are no ranges of scores');
  } else if (!served && Object.keys(offer.bands).length > 0) {
    faults.add(at, 'is above every score of the bands');
  }
}

function findBandFaults(
  offer: CatalogOffer,
  band: CatalogBand,
  path: CatalogPath,
  vertical: Vertical,
  faults: CatalogFaults,
): void {
  findRateFaults(band.note_rate_percent, path, faults);
  if (band.max_amount < offer.amount.min) {
    faults.add([...path, 'max_amount'], 'is below the least amount of the offer');
  }
  if (band.confirm_rate === undefined && offerPayoutModel(offer, vertical) === 'cost_per_lead') {
    faults.add([...path, 'confirm_rate'], 'must be given where revenue is per lead');
  }
  for (const [months, price] of Object.entries(band.terms ?? {})) {
    const termPath = [...path, 'terms', months];
    if (!offer.term_months.some((term) => String(term) === months)) faults.add(termPath, 'is not a term of the offer');
    if (Object.keys(price).length === 0) {
      faults.add(termPath, 'must hold note_rate_percent, origination_fee_percent, or both');
    }
    if (price.note_rate_percent !== undefined) findRateFaults(price.note_rate_percent, termPath, faults);
  }
}

function findRateFaults(
  { min, max }: CatalogBand['note_rate_percent'],
  path: CatalogPath,
  faults: CatalogFaults,
): void {
  if (min > max) faults.add([...path, 'note_rate_percent'], 'min must not exceed max');
}

/**
 * A landing URL goes into a Location header with the click id filled in, so it must be a plain https address whatever the
 * click id is: the placeholder may stand anywhere behind the host.
 */
function landingUrlProblem(template: string): string | null {
  if (!/^[\x21-\x7e]+$/.test(template)) return 'must be printable ASCII without spaces';
  if (!template.includes('{click_id}')) return 'must contain {click_id}';
  const bare = template.replaceAll('{click_id}', '');
  if (/[{}]/.test(bare)) return 'must hold no other placeholder than {click_id}';
  const plainHost = /^https:\/\/[a-z0-9.-]+(:\d{1,5})?[/?#]/.test(template);
  return plainHost && URL.canParse(bare)
    ? null
    : 'must be an https URL with a plain host name and the placeholder behind it';
}
