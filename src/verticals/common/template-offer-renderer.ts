import { randomBytes } from 'node:crypto';
import { LRUCache } from 'lru-cache';
import { bounds } from '../../bounds.ts';
import {
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

/** Members of an offer view that a product defines: the prices, and the object with the figures of the product. */
export type OfferFigures = Pick<
  OfferView,
  'apr_range' | 'payment_term_months' | 'monthly_payment_estimate' | 'loan_amount_range' | 'term_months'
> &
  Readonly<Record<string, unknown>>;

/** Creates the members of an offer view from the values of a `TemplatePricedOffer`. Must copy each value without calculations. */
export type CreateOfferFigures = (offer: CompiledOffer, slot: number, values: readonly OfferValue[]) => OfferFigures;

/** Random text at the start of the placeholders of a template, so that no text of an offer can be a placeholder. */
const placeholderPrefix = randomBytes(16).toString('hex');
const placeholder = new RegExp(`"${placeholderPrefix}(\\d+)"`);

/**
 * Creates the offers of responses from templates: JSON texts with gaps for the values that depend on the borrower. All offers with the same
 * slot (`TemplatePricedOffer.slot`) share one template, which is created when such an offer is first rendered. The least recently used
 * templates are dropped, because a large catalog has many slots.
 */
export class TemplateOfferRenderer implements OfferRenderer {
  readonly disclosureJson: string;
  readonly #offers: readonly CompiledOffer[];
  readonly #logosUrl: string;
  readonly #logoHashes: ReadonlyMap<string, string>;
  readonly #figuresOf: CreateOfferFigures;
  readonly #templates = new LRUCache<number, readonly (string | number)[]>({ max: bounds.offerTemplatesMax });

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
      return structuredClone(this.#createOfferView(index, slot, values, clickUrl, place + 1));
    });
  }

  renderOffersJson(
    { offers, subId, clickToken }: OfferList<TemplatePricedOffer>,
    { clickPrefixJson }: OfferUrls,
  ): string {
    let text = '[';
    for (let place = 0; place < offers.length; place++) {
      const { index, slot, values } = offers[place]!;
      let template = this.#templates.get(slot);
      if (template === undefined) {
        template = this.#createTemplate(index, slot, values.length);
        this.#templates.set(slot, template);
      }
      if (place > 0) text += ',';
      for (let part = 0; part < template.length; part++) {
        const piece = template[part]!;
        if (typeof piece === 'string') text += piece;
        else if (piece < values.length) {
          const value = values[piece]!;
          text += typeof value === 'number' ? value : JSON.stringify(value);
        } else if (piece === values.length) {
          text += `"${clickPrefixJson}${subId}${formatClickUrlParameters(this.#offers[index]!.id)}${clickToken}"`;
        } else text += place + 1;
      }
    }
    return `${text}]`;
  }

  /**
   * Returns a template as a list of texts and numbers. A number below `valueCount` stands for the value with this index, `valueCount` for
   * the click URL, and `valueCount + 1` for the position of the offer.
   */
  #createTemplate(index: number, slot: number, valueCount: number): readonly (string | number)[] {
    const names = Array.from({ length: valueCount + 2 }, (_, at) => `${placeholderPrefix}${at}`);
    const view = this.#createOfferView(
      index,
      slot,
      names.slice(0, valueCount) as unknown as OfferValue[],
      names[valueCount]!,
      names[valueCount + 1] as unknown as number,
    );
    return JSON.stringify(view)
      .split(placeholder)
      .map((piece, at) => (at % 2 === 0 ? copyToFlatString(piece) : Number(piece)));
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
      apr_range,
      payment_term_months,
      monthly_payment_estimate,
      loan_amount_range,
      ...offer.details,
      ...product,
      click_url: clickUrl,
      term_months,
      position,
    };
  }
}
