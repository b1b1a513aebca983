import { bounds } from '../bounds.ts';
import { choiceValues, enumValues } from '../verticals/field-vector.ts';
import { offerPayoutModel, servedScoreShare } from '../verticals/personal-loans/offer-rules.ts';
import type { PocketField, Vertical } from '../verticals/vertical.ts';
import { type CatalogErrors, type CatalogPath, formatPath } from './catalog-errors.ts';
import {
  type CatalogBand,
  type CatalogCriterion,
  type CatalogFile,
  type CatalogOffer,
  offerValidator,
} from './catalog-schema.ts';

/** What is wrong with one criterion of an offer. */
function checkCriterion(
  criterion: CatalogCriterion,
  path: CatalogPath,
  vertical: Vertical,
  faults: CatalogErrors,
): void {
  const field = vertical.fields.find(({ name }) => name === criterion.field);
  const fieldProblem = criterionFieldProblem(field, vertical);
  if (field === undefined || fieldProblem !== null) {
    faults.add([...path, 'field'], fieldProblem!);
    return;
  }
  const allowed = allowedConditions(field);
  const given = Object.keys(criterion).filter((member) => member !== 'field');
  if (given.length === 0) faults.add(path, `must hold one of ${allowed.join(', ')}`);
  for (const member of given) {
    if (!allowed.includes(member)) {
      faults.add([...path, member], `does not suit ${field.name}, which takes ${allowed.join(', ')}`);
    }
  }
  for (const member of ['in', 'not_in'] as const) {
    if (!allowed.includes(member)) continue;
    const values = enumValues(field);
    for (const [at, value] of (criterion[member] ?? []).entries()) {
      if (!values.includes(value)) faults.add([...path, member, at], `is not a value of ${field.name}`);
    }
  }
  if (criterion.min !== undefined && criterion.max !== undefined && criterion.min > criterion.max) {
    faults.add(path, 'min must not exceed max');
  }
}

function criterionFieldProblem(field: PocketField | undefined, vertical: Vertical): string | null {
  if (field === undefined) return 'is not a pocket field of this vertical';
  if (vertical.neverMatched?.includes(field.name)) return 'names a field that may not enter matching';
  return allowedConditions(field).length === 0 ? 'names a field that cannot be a criterion' : null;
}

/** The conditions a criterion may put on a field. Ages have no maximum: nobody is refused for being old. */
function allowedConditions(field: PocketField): readonly string[] {
  switch (field.kind) {
    case 'choice':
    case 'integer_choice':
    case 'boolean':
      return ['in', 'not_in'];
    case 'integer':
      return ['min', 'max'];
    case 'birthdate':
      return ['min_age'];
    case 'digits':
      return [];
  }
}

/**
 * Finds what no schema can say: words that are no value of their field, limits that contradict each other, repeated names.
 * `onShare` is told before each lender which share of them is done, from 0 to 1.
 */
export function validateSemantics(
  value: unknown,
  vertical: Vertical,
  faults: CatalogErrors,
  onShare?: (share: number) => void,
): void {
  const catalog = value as CatalogFile;
  if (typeof value !== 'object' || value === null) return;
  if (typeof catalog.vertical === 'string' && catalog.vertical !== vertical.segment) {
    faults.add(['vertical'], `must be "${vertical.segment}"`);
  }
  checkWellFormedText(catalog.disclosure, ['disclosure'], faults);
  checkStateRules(catalog.state_rules, ['state_rules'], vertical, faults);
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
      checkUnique(names, lender.name, path, faults);
      if (/\p{Cc}/u.test(lender.name)) faults.add(path, 'must hold no control characters');
      checkWellFormedText(lender.name, path, faults);
    }
    checkStateRules(lender.state_rules, [...lenderPath, 'state_rules'], vertical, faults);
    if (!Array.isArray(lender.offers)) continue;
    for (const [offerAt, offer] of lender.offers.entries()) {
      const path = [...lenderPath, 'offers', offerAt];
      // Asked of the offer itself: the faults named so far may not be all there are.
      if (!offerValidator.Check(offer)) continue;
      checkUnique(ids, offer.id, [...path, 'id'], faults);
      for (const months of offer.term_months) terms.add(months);
      checkOffer(offer, path, vertical, faults);
    }
  }
  if (terms.size > bounds.catalogTermsMax) {
    faults.add(['lenders'], `must name at most ${bounds.catalogTermsMax} different terms`);
  }
}

/** JSON can name half a character by an escape. Every encoding of it would be another text. */
function checkWellFormedText(text: unknown, path: CatalogPath, faults: CatalogErrors): void {
  if (typeof text === 'string' && !text.isWellFormed()) faults.add(path, 'must hold no half of a surrogate pair');
}

/** The rules may be misshapen; the state they are for is judged all the same. */
function checkStateRules(rules: unknown, path: CatalogPath, vertical: Vertical, faults: CatalogErrors): void {
  if (typeof rules !== 'object' || rules === null || Array.isArray(rules)) return;
  const states = choiceValues(vertical, vertical.roles.state);
  for (const [state, rule] of Object.entries(rules)) {
    if (!states.includes(state)) faults.add([...path, state], `is not a value of ${vertical.roles.state}`);
    if (rule?.min_age !== undefined && vertical.roles.birthdate === undefined) {
      faults.add([...path, state, 'min_age'], 'has no meaning in a vertical that does not ask for a birthdate');
    }
  }
}

function checkUnique(seen: Map<string, CatalogPath>, value: string, path: CatalogPath, faults: CatalogErrors): void {
  const first = seen.get(value);
  if (first === undefined) seen.set(value, path);
  else faults.add(path, `is the same as ${formatPath(first)}`);
}

function checkOffer(offer: CatalogOffer, path: CatalogPath, vertical: Vertical, faults: CatalogErrors): void {
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
  checkMinCreditScore(offer, path, vertical, faults);
  checkStateRules(offer.state_rules, [...path, 'state_rules'], vertical, faults);
  for (const [at, criterion] of offer.criteria.entries()) {
    checkCriterion(criterion, [...path, 'criteria', at], vertical, faults);
  }
  const bandNames = choiceValues(vertical, vertical.roles.creditBand);
  const bands = Object.entries(offer.bands);
  if (bands.length === 0) fault('bands', 'must hold at least one band');
  for (const [name, band] of bands) {
    const bandPath = [...path, 'bands', name];
    if (!bandNames.includes(name)) faults.add(bandPath, `is not a value of ${vertical.roles.creditBand}`);
    checkBand(offer, band, bandPath, vertical, faults);
  }
}

function checkMinCreditScore(offer: CatalogOffer, path: CatalogPath, vertical: Vertical, faults: CatalogErrors): void {
  if (offer.min_credit_score === undefined) return;
  const at = [...path, 'min_credit_score'];
  const bandNames = choiceValues(vertical, vertical.roles.creditBand);
  const served = bandNames.some(
    (name, band) => offer.bands[name] !== undefined && servedScoreShare(offer, vertical, band) > 0,
  );
  if (vertical.creditScores === undefined) {
    faults.add(at, 'has no meaning in a vertical whose credit bands are no ranges of scores');
  } else if (!served && Object.keys(offer.bands).length > 0) {
    faults.add(at, 'is above every score of the bands');
  }
}

function checkBand(
  offer: CatalogOffer,
  band: CatalogBand,
  path: CatalogPath,
  vertical: Vertical,
  faults: CatalogErrors,
): void {
  checkRateRange(band.note_rate_percent, path, faults);
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
    if (price.note_rate_percent !== undefined) checkRateRange(price.note_rate_percent, termPath, faults);
  }
}

function checkRateRange(
  { min, max }: CatalogBand['note_rate_percent'],
  path: CatalogPath,
  faults: CatalogErrors,
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
