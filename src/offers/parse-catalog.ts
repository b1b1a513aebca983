import { Settings } from 'typebox/system';
import { bounds } from '../bounds.ts';
import type { PocketField, Vertical } from '../verticals/vertical.ts';
import {
  type CatalogCriterion,
  type CatalogFile,
  type CatalogOffer,
  catalogValidator,
  offerValidator,
} from './catalog-schema.ts';

export type ParsedCatalog =
  | { readonly ok: true; readonly catalog: CatalogFile }
  /** One line a fault, `path: what is wrong`, e.g. `lenders[0].offers[2].amount.min: must be >= 1`. */
  | { readonly ok: false; readonly faults: readonly string[] };

/**
 * Reads the text of a catalog file for one vertical. Every fault is named up to `bounds.catalogFaultsMax`, those of shape
 * and those of sense together; only the sense of an offer whose shape is wrong is left unjudged. A catalog that passes can
 * be compiled without checks.
 */
export function parseCatalog(text: string, vertical: Vertical): ParsedCatalog {
  if (Buffer.byteLength(text) > bounds.catalogFileBytesMax) {
    return { ok: false, faults: [`catalog: must be at most ${bounds.catalogFileBytesMax} bytes long`] };
  }
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    return { ok: false, faults: [`catalog: is not JSON: ${(error as Error).message}`] };
  }
  const faults = new Faults();
  const sound = catalogValidator.Check(value);
  if (!sound) shapeFaults(value, faults);
  senseFaults(value, vertical, faults);
  if (sound && faults.count === 0) return { ok: true, catalog: value as CatalogFile };
  return { ok: false, faults: faults.lines() };
}

/** Collects faults in the order found. */
class Faults {
  count = 0;
  /** There are faults that were never looked for. */
  incomplete = false;
  readonly #lines: string[] = [];

  add(path: string, problem: string): void {
    this.count++;
    if (this.#lines.length < bounds.catalogFaultsMax) this.#lines.push(`${path === '' ? 'catalog' : path}: ${problem}`);
  }

  lines(): string[] {
    const unnamed = this.count - this.#lines.length;
    return unnamed === 0 ? this.#lines : [...this.#lines, `and ${this.incomplete ? 'at least ' : ''}${unnamed} more`];
  }
}

function shapeFaults(value: unknown, faults: Faults): void {
  // The library stops at eight faults unless told otherwise, and can only be told for the whole process.
  const { maxErrors } = Settings.Get();
  // A member that should not be there is reported twice: by its own path, and by that of the object around it.
  const errorsMax = 2 * (bounds.catalogFaultsMax + 1);
  Settings.Set({ maxErrors: errorsMax });
  try {
    const errors = catalogValidator.Errors(value);
    faults.incomplete = errors.length >= errorsMax;
    for (const error of errors) {
      if (error.keyword === 'additionalProperties') continue;
      const path = pathOf(error.instancePath);
      if (error.keyword === 'boolean') faults.add(path, 'is not a member of the format');
      else faults.add(path, error.message);
    }
  } finally {
    Settings.Set({ maxErrors });
  }
}

/** `/lenders/0/name` as `lenders[0].name`. */
function pathOf(pointer: string): string {
  let path = '';
  for (const part of pointer.split('/').slice(1)) {
    if (/^\d+$/.test(part)) path += `[${part}]`;
    else path += `${path === '' ? '' : '.'}${part.replaceAll('~1', '/').replaceAll('~0', '~')}`;
  }
  return path;
}

function senseFaults(value: unknown, vertical: Vertical, faults: Faults): void {
  const catalog = value as CatalogFile;
  if (typeof value !== 'object' || value === null) return;
  if (typeof catalog.vertical === 'string' && catalog.vertical !== vertical.segment) {
    faults.add('vertical', `must be "${vertical.segment}"`);
  }
  if (typeof catalog.state_rules === 'object' && catalog.state_rules !== null) {
    const states = choices(vertical, vertical.roles.state);
    for (const state of Object.keys(catalog.state_rules)) {
      if (!states.includes(state)) {
        faults.add(`state_rules.${state}`, `is not a value of ${vertical.roles.state}`);
      }
    }
  }
  if (!Array.isArray(catalog.lenders)) return;

  const ids = new Map<string, string>();
  const names = new Map<string, string>();
  const terms = new Set<number>();
  let offers = 0;
  for (const [lenderAt, lender] of catalog.lenders.entries()) {
    const lenderPath = `lenders[${lenderAt}]`;
    if (typeof lender !== 'object' || lender === null) continue;
    if (typeof lender.name === 'string') {
      unique(names, lender.name, `${lenderPath}.name`, faults);
      if (/\p{Cc}/u.test(lender.name)) faults.add(`${lenderPath}.name`, 'must hold no control characters');
    }
    if (!Array.isArray(lender.offers)) continue;
    for (const [offerAt, offer] of lender.offers.entries()) {
      offers++;
      const path = `${lenderPath}.offers[${offerAt}]`;
      // Asked of the offer itself: the faults named so far may not be all there are.
      if (!offerValidator.Check(offer)) continue;
      unique(ids, offer.id, `${path}.id`, faults);
      for (const months of offer.term_months) terms.add(months);
      offerFaults(offer, path, vertical, faults);
    }
  }
  if (offers > bounds.catalogOffersMax) faults.add('lenders', `must hold at most ${bounds.catalogOffersMax} offers`);
  if (terms.size > bounds.catalogTermsMax) {
    faults.add('lenders', `must name at most ${bounds.catalogTermsMax} different terms`);
  }
}

function unique(seen: Map<string, string>, value: string, path: string, faults: Faults): void {
  const first = seen.get(value);
  if (first === undefined) seen.set(value, path);
  else faults.add(path, `is the same as ${first}`);
}

function offerFaults(offer: CatalogOffer, path: string, vertical: Vertical, faults: Faults): void {
  const landingUrlFault = landingUrlProblem(offer.landing_url);
  if (landingUrlFault !== null) faults.add(`${path}.landing_url`, landingUrlFault);
  for (const list of ['features', 'term_months'] as const) {
    if (new Set<unknown>(offer[list]).size < offer[list].length)
      faults.add(`${path}.${list}`, 'must not repeat a value');
  }
  if (offer.amount.min > offer.amount.max) faults.add(`${path}.amount`, 'min must not exceed max');
  if (offer.max_debt_to_income_percent !== undefined && vertical.roles.monthlyDebt === undefined) {
    faults.add(`${path}.max_debt_to_income_percent`, 'has no meaning in a vertical that does not ask for monthly debt');
  }
  for (const [at, criterion] of offer.criteria.entries()) {
    criterionFaults(criterion, `${path}.criteria[${at}]`, vertical, faults);
  }
  const bandNames = choices(vertical, vertical.roles.creditBand);
  const bands = Object.entries(offer.bands);
  if (bands.length === 0) faults.add(`${path}.bands`, 'must hold at least one band');
  for (const [name, band] of bands) {
    const bandPath = `${path}.bands.${name}`;
    if (!bandNames.includes(name)) faults.add(bandPath, `is not a value of ${vertical.roles.creditBand}`);
    const { min, max } = band.note_rate_percent;
    if (min > max) faults.add(`${bandPath}.note_rate_percent`, 'min must not exceed max');
    if (band.max_amount < offer.amount.min)
      faults.add(`${bandPath}.max_amount`, 'is below the least amount of the offer');
    if (band.confirm_rate === undefined && vertical.revenueModel === 'cost_per_lead') {
      faults.add(`${bandPath}.confirm_rate`, 'must be given where revenue is per lead');
    }
  }
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

function criterionFieldProblem(field: PocketField | undefined, vertical: Vertical): string | null {
  if (field === undefined) return 'is not a pocket field of this vertical';
  if (vertical.neverMatched?.includes(field.name)) return 'names a field that may not enter matching';
  return conditionsOf(field).length === 0 ? 'names a field that cannot be a criterion' : null;
}

function criterionFaults(criterion: CatalogCriterion, path: string, vertical: Vertical, faults: Faults): void {
  const field = vertical.fields.find(({ name }) => name === criterion.field);
  const fieldProblem = criterionFieldProblem(field, vertical);
  if (field === undefined || fieldProblem !== null) {
    faults.add(`${path}.field`, fieldProblem!);
    return;
  }
  const allowed = conditionsOf(field);
  const given = Object.keys(criterion).filter((member) => member !== 'field');
  if (given.length === 0) faults.add(path, `must hold one of ${allowed.join(', ')}`);
  for (const member of given) {
    if (!allowed.includes(member)) {
      faults.add(`${path}.${member}`, `does not suit ${field.name}, which takes ${allowed.join(', ')}`);
    }
  }
  for (const member of ['in', 'not_in'] as const) {
    if (!allowed.includes(member)) continue;
    const values = valuesOf(field);
    for (const [at, value] of (criterion[member] ?? []).entries()) {
      if (!values.includes(value)) faults.add(`${path}.${member}[${at}]`, `is not a value of ${field.name}`);
    }
  }
  if (criterion.min !== undefined && criterion.max !== undefined && criterion.min > criterion.max) {
    faults.add(path, 'min must not exceed max');
  }
}

/** The conditions a criterion may put on a field. Ages have no maximum: nobody is refused for being old. */
function conditionsOf(field: PocketField): readonly string[] {
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

function valuesOf(field: PocketField): readonly unknown[] {
  if (field.kind === 'boolean') return [false, true];
  return field.kind === 'choice' || field.kind === 'integer_choice' ? field.values : [];
}

function choices(vertical: Vertical, name: string): readonly string[] {
  const field = vertical.fields.find((candidate) => candidate.name === name);
  if (field?.kind !== 'choice') throw new TypeError(`${vertical.segment}: ${name} must be a choice field`);
  return field.values;
}
