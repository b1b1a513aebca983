import { randomBytes } from 'node:crypto';
import type { TObject } from 'typebox';
import { bounds } from '../../bounds.ts';
import {
  type CompiledCatalogData,
  type CompiledOffer,
  createLogoUrl,
  formatClickUrlParameters,
  type OfferList,
  type OfferRenderer,
  type OfferRendererOptions,
  type OfferUrls,
  type OfferView,
  type PricedOffer,
} from '../../catalogs/offer-view.ts';
import type { FieldVector } from '../../domain/field-vector.ts';
import { copyToFlatString } from '../../domain/text.ts';
import type { MatchTables } from '../../matching/match-tables.ts';

/** Value of an offer that depends on the borrower: a finite number, null, or a list of objects of numbers. */
export type OfferValue = number | null | readonly object[];

/** Offer of a response with the figures for one borrower, for `TemplateOfferRenderer`. */
export interface TemplatePricedOffer extends PricedOffer {
  /** Number that selects the template: offers with the same slot differ only in `values`. */
  readonly slot: number;
  /** Values that depend on the borrower, in the order that the product's `CreateOfferFigures` expects. */
  readonly values: readonly OfferValue[];
}

/**
 * Creates the function that prices the offers of a response (`VerticalProduct.priceOffers`). The function throws an error if the borrower
 * cannot get one of the offers, which means that the ranking is incorrect.
 *
 * @param readApplicant returns the values of the borrower that prices depend on, or null if a required value is missing
 * @param priceOffer prices the offer with an index in the catalog; returns null if the applicant cannot get the offer
 */
export function createOfferPricing<Tables extends MatchTables, Applicant>(
  readApplicant: (tables: Tables, borrower: Readonly<FieldVector>) => Applicant | null,
  priceOffer: (tables: Tables, index: number, applicant: Applicant, offer: CompiledOffer) => TemplatePricedOffer | null,
) {
  return (
    catalog: CompiledCatalogData,
    indexes: ArrayLike<number>,
    borrower: Readonly<FieldVector>,
  ): TemplatePricedOffer[] => {
    const tables = catalog.tables as Tables;
    const applicant = readApplicant(tables, borrower);
    const priced: TemplatePricedOffer[] = [];
    for (let place = 0; place < indexes.length; place++) {
      const index = indexes[place]!;
      const offer = catalog.offers[index]!;
      const figures = applicant === null ? null : priceOffer(tables, index, applicant, offer);
      if (figures === null) throw new Error(`offer ${offer.id} was not ranked for this borrower`);
      priced.push(figures);
    }
    return priced;
  };
}

/**
 * Members of an offer view that a product defines: the prices, and the object with the figures of the product. Prices that the product does
 * not have are null in the view, and `term_months` is empty.
 */
export type OfferFigures = Partial<
  Pick<
    OfferView,
    'apr_range' | 'payment_term_months' | 'monthly_payment_estimate' | 'loan_amount_range' | 'term_months'
  >
> &
  Readonly<Record<string, unknown>>;

/**
 * Copies the members that a schema describes, in the order of the schema: from `figures`, or otherwise from the offer of the catalog; null
 * for members that both do not have. A caller who changes the copy does not change the catalog.
 */
export function copyDescribedMembers({ properties }: TObject, offer: object, figures: object): Record<string, unknown> {
  const copy: Record<string, unknown> = {};
  for (const name in properties) {
    const source = (name in figures ? figures : offer) as Readonly<Record<string, unknown>>;
    copy[name] = copyJsonValue(source[name] ?? null);
  }
  return copy;
}

/**
 * Creates the members of an offer view from the values of a `TemplatePricedOffer`. Must copy each value without calculations, and must
 * return no object of the catalog. No value may be in `term_months`.
 */
export type CreateOfferFigures = (offer: CompiledOffer, slot: number, values: readonly OfferValue[]) => OfferFigures;

/** Random text at the start of the placeholders of a template, so that no text of an offer can be a placeholder. */
const placeholderPrefix = randomBytes(16).toString('hex');
const valuePlaceholder = new RegExp(`"${placeholderPrefix}(\\d+)"`);

/** JSON text for the hundredths of a number: empty for 0, `.01` for 1 and so on. */
const hundredthsSuffixes = Array.from({ length: 100 }, (_, part) => (part === 0 ? '' : String(part / 100).slice(1)));

/** JSON text of an offer, without the values that depend on the borrower. */
interface OfferTemplate {
  /** Text before each value. */
  readonly texts: readonly string[];
  /** Index of each value in `TemplatePricedOffer.values`. */
  readonly valueIndexes: readonly number[];
  /** Text from the last value to the click URL, parameters of the click URL, and text from the click URL to the value of `position`. */
  readonly beforeClickUrl: string;
  readonly urlParameters: string;
  readonly afterClickUrl: string;
}

/**
 * Creates the offers of responses from templates: JSON texts with gaps for the values that depend on the borrower. All offers with the same
 * slot (`TemplatePricedOffer.slot`) share one template, which is created when such an offer is first rendered. A large catalog has many
 * slots, so all templates are dropped at `bounds.offerTemplatesMax`.
 *
 * Rendering time depends on the number of concatenated strings, not on their length, so the texts are few and long. Each text is copied into
 * one flat string, because V8 stores a concatenated string as a tree of parts, which is slower to read.
 */
export class TemplateOfferRenderer implements OfferRenderer {
  readonly disclosureJson: string;
  readonly #offers: readonly CompiledOffer[];
  readonly #logosUrl: string;
  readonly #logoHashes: ReadonlyMap<string, string>;
  readonly #figuresOf: CreateOfferFigures;
  readonly #templates = new Map<number, OfferTemplate>();

  constructor([{ disclosure, offers }, logosUrl, logoHashes]: OfferRendererOptions, figuresOf: CreateOfferFigures) {
    this.disclosureJson = JSON.stringify(disclosure);
    this.#offers = offers;
    this.#logosUrl = logosUrl;
    this.#logoHashes = logoHashes;
    this.#figuresOf = figuresOf;
  }

  createOfferViews(
    { offers, subId, clickToken }: OfferList<TemplatePricedOffer>,
    { clickPrefix }: OfferUrls,
  ): OfferView[] {
    return offers.map(({ index, slot, values }, place) => {
      const clickUrl = `${clickPrefix}${subId}${formatClickUrlParameters(this.#offers[index]!.id)}${clickToken}`;
      return this.#createOfferView(index, slot, values, clickUrl, place + 1);
    });
  }

  renderOffersJson(
    { offers, subId, clickToken }: OfferList<TemplatePricedOffer>,
    { clickPrefixJson }: OfferUrls,
  ): string {
    if (offers.length === 0) return '[]';
    const lastPlace = offers.length - 1;
    let text = '[';
    for (let place = 0; place <= lastPlace; place++) {
      const { index, slot, values } = offers[place]!;
      const template = this.#templates.get(slot) ?? this.#addTemplate(index, slot, values.length);
      const { texts, valueIndexes } = template;
      for (let at = 0; at < texts.length; at++) text += texts[at]! + renderValue(values[valueIndexes[at]!]!);
      text +=
        template.beforeClickUrl +
        clickPrefixJson +
        subId +
        template.urlParameters +
        clickToken +
        template.afterClickUrl +
        (place + 1) +
        (place === lastPlace ? '}]' : '},');
    }
    return text;
  }

  #addTemplate(index: number, slot: number, valueCount: number): OfferTemplate {
    if (this.#templates.size >= bounds.offerTemplatesMax) this.#templates.clear();
    const names = Array.from({ length: valueCount }, (_, at) => `${placeholderPrefix}${at}`);
    const view = this.#createOfferView(index, slot, names as unknown as OfferValue[], placeholderPrefix, 0);
    const [beforeClick, afterClick] = JSON.stringify(view).slice(0, -'0}'.length).split(`${placeholderPrefix}"`);
    const pieces = beforeClick!.split(valuePlaceholder).map(copyToFlatString);
    const template: OfferTemplate = {
      texts: pieces.filter((_piece, at) => at % 2 === 0).slice(0, -1),
      valueIndexes: pieces.filter((_piece, at) => at % 2 === 1).map(Number),
      beforeClickUrl: pieces.at(-1)!,
      urlParameters: copyToFlatString(formatClickUrlParameters(this.#offers[index]!.id)),
      afterClickUrl: copyToFlatString(`"${afterClick}`),
    };
    this.#templates.set(slot, template);
    return template;
  }

  #createOfferView(
    index: number,
    slot: number,
    values: readonly OfferValue[],
    clickUrl: string,
    position: number,
  ): OfferView {
    const offer = this.#offers[index]!;
    const figures = this.#figuresOf(offer, slot, values);
    const { apr_range, payment_term_months, monthly_payment_estimate, loan_amount_range, ...rest } = figures;
    const { term_months = [], ...product } = rest;
    return {
      svc_offer_id: offer.id,
      lender_name: offer.lenderName,
      logo_url: createLogoUrl(offer, this.#logosUrl, this.#logoHashes),
      apr_range: apr_range ? { ...apr_range } : null,
      payment_term_months: payment_term_months ?? null,
      monthly_payment_estimate: monthly_payment_estimate ?? null,
      loan_amount_range: loan_amount_range ?? null,
      ...offer.details,
      features: [...offer.details.features],
      ...product,
      click_url: clickUrl,
      term_months,
      position,
    };
  }
}

function copyJsonValue(value: unknown): unknown {
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) return value.map(copyJsonValue);
  const copy: Record<string, unknown> = {};
  for (const [name, member] of Object.entries(value)) copy[name] = copyJsonValue(member);
  return copy;
}

/** Renders a value as JSON. Most values have at most two decimals, for which a prepared text is faster than formatting. */
function renderValue(value: OfferValue): string {
  if (typeof value !== 'number') return JSON.stringify(value);
  const hundredths = Math.round(value * 100);
  if (hundredths < 0 || hundredths / 100 !== value) return String(value);
  const whole = Math.floor(hundredths / 100);
  return whole + hundredthsSuffixes[hundredths - whole * 100]!;
}
