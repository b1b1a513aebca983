import Type, { type TSchema } from 'typebox';
import { Compile } from 'typebox/compile';
import { parseIsoDate } from '../domain/calendar.ts';
import { getChoiceValues, listAllowedValues } from '../domain/field-vector.ts';
import { getOrAdd } from '../domain/get-or-add.ts';
import { usdToMicros } from '../domain/money.ts';
import { isPrintable } from '../domain/text.ts';
import type { PocketField, Vertical } from '../domain/vertical.ts';
import { listClickRevenueMicros, listOffersSortedById, type OfferCriterion } from '../matching/match-tables.ts';
import {
  type CatalogErrors,
  type CatalogValuePath,
  formatCatalogValuePath,
  invisibleProblem,
} from './catalog-errors.ts';
import {
  type CatalogFile,
  type CatalogLender,
  type CatalogOffer,
  catalogSchema,
  exampleLandingUrl,
  lenderSchema,
} from './catalog-schema.ts';
import { checkAgeCriteria, checkAgesOfStateRules } from './check-age-rules.ts';
import type { VerticalProduct, VerticalWithProduct } from './product.ts';

const compileSchema = (schema: TSchema) => Compile(schema);

/**
 * Compiles the validators of a catalog file and of its parts: the file without lenders, a lender without offers, and an offer. Listing
 * errors is slow, so errors of an invalid file are listed only for the parts that are invalid.
 */
function compileValidators({ schema: { fileMembers, lenderMembers, offer } }: VerticalProduct) {
  return {
    catalogValidator: compileSchema(catalogSchema(fileMembers, lenderSchema(lenderMembers, offer))),
    fileValidator: compileSchema(catalogSchema(fileMembers, Type.Unknown())),
    lenderValidator: compileSchema(lenderSchema(lenderMembers, Type.Unknown())),
    offerValidator: compileSchema(offer),
  };
}

const validatorsByProduct = new Map<VerticalProduct, ReturnType<typeof compileValidators>>();

/** Returns the validators of a product, and compiles them at the first call. */
export function catalogValidators(product: VerticalProduct): ReturnType<typeof compileValidators> {
  return getOrAdd(validatorsByProduct, product, () => compileValidators(product));
}

/** Part of a catalog file that may have rules per US state: the whole catalog, a lender or an offer. */
type WithStateRules<Part> = Part & { readonly state_rules?: unknown };

/**
 * Reports errors that a schema cannot detect: values that are not allowed for their field, limits that contradict each other, and repeated
 * names. Skips parts of the catalog that do not match the schema.
 */
export function validateSemantics(
  value: unknown,
  { vertical, product }: VerticalWithProduct,
  today: number,
  errors: CatalogErrors,
): void {
  const catalog = value as WithStateRules<CatalogFile>;
  if (typeof value !== 'object' || value === null) return;
  if (typeof catalog.vertical === 'string' && catalog.vertical !== vertical.segment) {
    errors.add(['vertical'], `must be "${vertical.segment}"`);
  }
  const { disclosure } = catalog;
  if (typeof disclosure === 'string') {
    if (!disclosure.isWellFormed()) errors.add(['disclosure'], 'must not contain a lone surrogate');
    else if (/^\s+$/.test(disclosure)) errors.addUnlessStored(['disclosure'], 'must not be blank');
    else if (!isPrintable(disclosure)) errors.addUnlessStored(['disclosure'], invisibleProblem);
  }
  validateUsStateRules(catalog.state_rules, ['state_rules'], vertical, errors);
  if (product.isCredit) checkAgesOfStateRules(catalog.state_rules, errors);
  if (!Array.isArray(catalog.lenders)) return;

  const { offerValidator } = catalogValidators(product);
  const ids = new Map<string, CatalogValuePath>();
  const names = new Map<string, CatalogValuePath>();
  const offers: CatalogOffer[] = [];
  for (const [lenderIndex, lender] of (catalog.lenders as WithStateRules<CatalogLender>[]).entries()) {
    const lenderPath = ['lenders', lenderIndex];
    if (typeof lender !== 'object' || lender === null) continue;
    if (typeof lender.name === 'string') {
      const path = [...lenderPath, 'name'];
      checkUnique(names, lender.name, path, errors);
      errors.checkSingleLineText(lender.name, path);
    }
    validateUsStateRules(lender.state_rules, [...lenderPath, 'state_rules'], vertical, errors);
    if (!Array.isArray(lender.offers)) continue;
    const productNames = new Map<string, CatalogValuePath>();
    for (const [offerIndex, offer] of lender.offers.entries()) {
      // Checks the schema again to skip invalid offers, because `errors` may not list all of them.
      if (!offerValidator.Check(offer)) continue;
      const path = [...lenderPath, 'offers', offerIndex];
      checkUnique(ids, offer.id, [...path, 'id'], errors);
      if (offer.name !== undefined) checkUnique(productNames, offer.name, [...path, 'name'], errors);
      checkOffer(offer, path, vertical, today, errors);
      if (product.isCredit) checkAgeCriteria(offer, path, vertical, errors);
      product.validateOffer(offer, path, vertical, errors, lender);
      offers.push(offer);
    }
  }
  product.validateOffers?.(offers, errors);
}

/** Reports rules for unknown US states, and age rules in a vertical without a birthdate field. Ignores schema errors. */
function validateUsStateRules(rules: unknown, path: CatalogValuePath, vertical: Vertical, errors: CatalogErrors): void {
  if (typeof rules !== 'object' || rules === null || Array.isArray(rules)) return;
  const states = getChoiceValues(vertical, vertical.roles.state);
  for (const [state, rule] of Object.entries(rules)) {
    if (!states.includes(state)) errors.add([...path, state], `is not a value of ${vertical.roles.state}`);
    if (rule?.min_age !== undefined && vertical.roles.birthdate === undefined) {
      errors.add([...path, state, 'min_age'], 'is not allowed, because the vertical has no birthdate field');
    }
  }
}

function checkUnique(
  seen: Map<string, CatalogValuePath>,
  value: string,
  path: CatalogValuePath,
  errors: CatalogErrors,
): void {
  const first = seen.get(value);
  if (first === undefined) seen.set(value, path);
  else errors.add(path, `is the same as ${formatCatalogValuePath(first)}`);
}

/** Checks the members of an offer that all products share. */
function checkOffer(
  offer: WithStateRules<CatalogOffer>,
  path: CatalogValuePath,
  vertical: Vertical,
  today: number,
  errors: CatalogErrors,
): void {
  const urlProblem = landingUrlProblem(offer.landing_url);
  if (urlProblem !== null) errors.add([...path, 'landing_url'], urlProblem);
  if (new Set(offer.features).size < offer.features.length)
    errors.add([...path, 'features'], 'must not repeat a value');
  if (offer.name !== undefined) errors.checkSingleLineText(offer.name, [...path, 'name']);
  if (offer.legal !== undefined) errors.checkSingleLineText(offer.legal, [...path, 'legal']);
  if (offer.terms_url !== undefined) errors.checkHttpsUrl(offer.terms_url, [...path, 'terms_url']);
  if (offer.as_of !== undefined) checkConfirmationDate(offer.as_of, today, [...path, 'as_of'], errors);
  validateUsStateRules(offer.state_rules, [...path, 'state_rules'], vertical, errors);
  checkBudget(offer.budget, [...path, 'budget'], errors);
  for (const [index, criterion] of offer.criteria.entries()) {
    checkCriterion(criterion, [...path, 'criteria', index], vertical, errors);
  }
}

function checkBudget(budget: CatalogOffer['budget'], path: CatalogValuePath, errors: CatalogErrors): void {
  if (budget === undefined) return;
  const { per_day_usd: perDay, per_month_usd: perMonth } = budget;
  if (perDay === undefined && perMonth === undefined) {
    errors.add(path, 'must contain per_day_usd, per_month_usd or both');
  } else if (perDay !== undefined && perMonth !== undefined && perDay > perMonth) {
    errors.add(path, 'per_day_usd must not exceed per_month_usd');
  }
}

/**
 * Reports each budget of a valid catalog that is below the largest revenue that a click of its offer can book, because such a click would
 * never book anything.
 */
export function checkBudgetsCoverClicks(
  catalog: CatalogFile,
  { vertical, product }: VerticalWithProduct,
  errors: CatalogErrors,
): void {
  const paths = new Map<string, CatalogValuePath>();
  const lenders = catalog.lenders.flatMap((lender, lenderIndex) => {
    const offers = lender.offers.filter(({ id, budget }, offerIndex) => {
      if (budget !== undefined) paths.set(id, ['lenders', lenderIndex, 'offers', offerIndex, 'budget']);
      return budget !== undefined;
    });
    return offers.length === 0 ? [] : [{ ...lender, offers }];
  });
  if (lenders.length === 0) return;
  const withBudgets = { ...catalog, lenders };
  const tables = product.compileCatalogTables(withBudgets, vertical);
  for (const [index, { offer }] of listOffersSortedById(withBudgets).entries()) {
    const clickMicros = Math.max(...listClickRevenueMicros(tables, index));
    for (const member of ['per_day_usd', 'per_month_usd'] as const) {
      const amount = offer.budget![member];
      if (amount === undefined || usdToMicros(amount) >= clickMicros) continue;
      const problem = `must be at least ${clickMicros / 1_000_000}, the largest revenue of a click`;
      errors.addUnlessStored([...paths.get(offer.id)!, member], problem);
    }
  }
}

function checkCriterion(
  criterion: OfferCriterion,
  path: CatalogValuePath,
  vertical: Vertical,
  errors: CatalogErrors,
): void {
  const field = vertical.fields.find(({ name }) => name === criterion.field);
  const fieldProblem = criterionFieldProblem(field, vertical);
  if (field === undefined || fieldProblem !== null) {
    errors.add([...path, 'field'], fieldProblem!);
    return;
  }
  const allowed = allowedConditions(field);
  const conditions = Object.keys(criterion).filter((member) => member !== 'field');
  if (conditions.length === 0) errors.add(path, `must hold one of ${allowed.join(', ')}`);
  for (const member of conditions) {
    if (!allowed.includes(member)) {
      errors.add([...path, member], `is not allowed for ${field.name}; allowed: ${allowed.join(', ')}`);
    }
  }
  for (const member of ['in', 'not_in'] as const) {
    if (!allowed.includes(member)) continue;
    const values = listAllowedValues(field);
    for (const [index, value] of (criterion[member] ?? []).entries()) {
      if (!values.includes(value)) errors.add([...path, member, index], `is not a value of ${field.name}`);
    }
  }
  if (criterion.min !== undefined && criterion.max !== undefined && criterion.min > criterion.max) {
    errors.add(path, 'min must not exceed max');
  }
}

function criterionFieldProblem(field: PocketField | undefined, vertical: Vertical): string | null {
  if (field === undefined) return 'is not a pocket field of this vertical';
  if (vertical.neverMatched?.includes(field.name)) return 'names a field that must not influence offers';
  return allowedConditions(field).length === 0 ? 'names a field that cannot be a criterion' : null;
}

/** Reports a date that does not exist, or that is later than `today`, in days since the Unix epoch. */
function checkConfirmationDate(date: string, today: number, path: CatalogValuePath, errors: CatalogErrors): void {
  const day = parseIsoDate(date);
  if (day === null) errors.add(path, 'must be a calendar date as YYYY-MM-DD');
  else if (day > today) errors.add(path, 'must not be in the future');
}

/** Returns the conditions that a criterion for a field may contain. Ages have no `max`, so no offer can exclude older borrowers. */
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
 * Returns the reason why a landing URL is invalid, or null for a valid URL. A click redirects to the landing URL, in which `{click_id}` is
 * replaced by the click_id. The placeholder `{click_id}` must come after the host name, so that every redirect goes to the same host.
 */
function landingUrlProblem(template: string): string | null {
  if (template === exampleLandingUrl) return null;
  if (!/^[\x21-\x7e]+$/.test(template)) return 'must be printable ASCII without spaces';
  if (!template.includes('{click_id}')) return 'must contain {click_id}';
  const bare = template.replaceAll('{click_id}', '');
  if (/[{}]/.test(bare)) return 'must not contain placeholders other than {click_id}';
  const plainHost = /^https:\/\/[a-z0-9.-]+(:\d{1,5})?[/?#]/.test(template);
  return plainHost && URL.canParse(bare)
    ? null
    : 'must be an https URL with a plain host name, and {click_id} after the host name';
}
