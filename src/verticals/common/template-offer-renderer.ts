import { randomBytes } from 'node:crypto';
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
import { copyToFlatString } from '../../domain/text.ts';

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
 * Prices the offers of a response.
 *
 * @param indexes index of each offer in the catalog, from a ranking for this borrower and catalog version
 * @param priceOffer prices one offer; returns null if the borrower cannot get the offer
 * @throws Error if the borrower cannot get one of the offers, which means that the ranking is incorrect
 */
export function priceRankedOffers(
  { offers }: Pick<CompiledCatalogData, 'offers'>,
  indexes: ArrayLike<number>,
  priceOffer: (index: number, offer: CompiledOffer) => TemplatePricedOffer | null,
): TemplatePricedOffer[] {
  const priced: TemplatePricedOffer[] = [];
  for (let place = 0; place < indexes.length; place++) {
    const index = indexes[place]!;
    const offer = offers[index]!;
    const figures = priceOffer(index, offer);
    if (figures === null) throw new Error(`offer ${offer.id} was not ranked for this borrower`);
    priced.push(figures);
  }
  return priced;
}

/** Members of an offer view that a product defines: the prices, and the object with the figures of the product. */
export type OfferFigures = Pick<
  OfferView,
  'apr_range' | 'payment_term_months' | 'monthly_payment_estimate' | 'loan_amount_range' | 'term_months'
> &
  Readonly<Record<string, unknown>>;

/** Creates the members of an offer view from the values of a `TemplatePricedOffer`. Must copy each value without calculations. No value may be in `term_months`. */
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
    const { apr_range, payment_term_months, monthly_payment_estimate, loan_amount_range, term_months, ...product } =
      figures;
    return {
      svc_offer_id: offer.id,
      lender_name: offer.lenderName,
      logo_url: createLogoUrl(offer, this.#logosUrl, this.#logoHashes),
      apr_range: apr_range === null ? null : { ...apr_range },
      payment_term_months,
      monthly_payment_estimate,
      loan_amount_range,
      ...offer.details,
      features: [...offer.details.features],
      ...copyJsonValue(product),
      click_url: clickUrl,
      term_months,
      position,
    };
  }
}

/** Copies a value, so that a caller who changes the copy does not change the catalog. */
function copyJsonValue<Value>(value: Value): Value;
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
