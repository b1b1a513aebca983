import { bounds } from '../../bounds.ts';
import { addOffer, emptyOfferSet, hasOffer, type OfferSet } from '../../matching/offer-set.ts';
import { RangeIndex } from '../../matching/range-index.ts';
import { absentValue } from '../field-vector.ts';
import type { LoanTables } from './loan-tables.ts';
import { type Applicant, emptyApplicant, emptyOfferPrice, priceOffer } from './price-offer.ts';
import { aprKey, revenueKey, type ScoreOffer } from './sort-keys.ts';

/** What matching knows beforehand of one credit band. */
export interface BandIndex {
  /** The offers made to the band, whatever is asked of its borrowers besides, in the order of their numbers. */
  readonly offers: Uint16Array;
  readonly amounts: RangeIndex;
  /** By offer: the largest amount, 0 where the offer is not made to the band. */
  readonly amountMax: Float64Array;
  /** By offer: the terms that stay within the highest cap of any state, as bits. No more are ever open. */
  readonly terms: Int32Array;
  /** By offer: the one of them that is quoted to who asks for none, or -1. */
  readonly defaultTerm: Int8Array;
  /** By offer: the least of their payment factors. */
  readonly minPaymentFactor: Float64Array;
  /** The offers, the highest `svc_revenue` first. */
  readonly byRevenue: Uint16Array;
}

/**
 * What matching knows beforehand of one credit band and one term asked for. An offer's *usual* slot is the one quoted where no
 * state's own cap and no debt closes a term.
 */
export interface TermIndex {
  /** By offer: the usual slot, and its payment factor. */
  readonly defaultSlot: Int32Array;
  readonly defaultPaymentFactor: Float64Array;
  /** The offers of the band in the order of `lowest_apr`, by their usual slots. */
  readonly byApr: Uint16Array;
  /** Those without a debt-to-income limit in the order of `highest_amount`, by their usual slots. */
  readonly byAmount: Uint16Array;
  /** The offers of the band by the best score anybody can get for them in their usual slots, and these scores beside them. */
  readonly byScore: Uint16Array;
  readonly bestScores: Int32Array;
}

/** What a state's rules leave of one credit band, debts not considered. */
export interface StateIndex {
  /** Offers that the criteria on state and band allow and that have an open term. */
  readonly offered: OfferSet;
  /** By index of the term asked for, plus 1: those of them that are quoted another than their usual slot; undefined for none. */
  readonly nonDefaultTerm: readonly (OfferSet | undefined)[];
  /** The offers whose least amount the state raises, and the lowest and the highest of the amounts it raises it to. */
  readonly raisedMinimum: OfferSet;
  readonly lowestRaisedMinimum: number;
  readonly highestRaisedMinimum: number;
}

/** What an index holds at present: how many of each kind, and the bytes of all its numbers. */
interface MatchIndexUsage {
  readonly bands: number;
  readonly terms: number;
  readonly states: number;
  readonly bytes: number;
}

/**
 * Sets and orders of a catalog's offers that depend on few properties of a borrower, made when first asked for. Their numbers
 * take about as much memory as the tables they are made from, and all that is kept never takes more than `bytesMax`: what
 * would exceed it is kept alone, everything else is forgotten and made again as needed. A ranking under way may still use what
 * has just been forgotten.
 */
export class MatchIndex {
  /** Offers with a debt-to-income limit. */
  readonly debtLimited: OfferSet;
  /** In the order of `rangeFilters` and `ageFilters`. */
  readonly ranges: readonly RangeIndex[];
  /** Of completed years. */
  readonly ageRanges: readonly RangeIndex[];
  readonly #tables: LoanTables;
  readonly #score: ScoreOffer | null;
  readonly #bands: BandIndex[];
  /** By band, then by index of the term asked for, plus 1. */
  readonly #terms: TermIndex[][];
  /** By band, then by state. */
  readonly #states: StateIndex[][];
  readonly #bytesMax: number;
  /** What is held from the start and never forgotten. */
  readonly #fixedBytes: number;
  #bytes = 0;

  /** Without a score there are no orders by it. */
  constructor(tables: LoanTables, score: ScoreOffer | null, bytesMax: number = bounds.matchIndexBytesMax) {
    this.#tables = tables;
    this.#score = score;
    this.#bytesMax = bytesMax;
    this.#bands = [];
    this.#terms = Array.from({ length: tables.bandCount }, () => []);
    this.#states = Array.from({ length: tables.bandCount }, () => []);
    this.debtLimited = emptyOfferSet(tables.offerCount);
    for (let offer = 0; offer < tables.offerCount; offer++) {
      if (tables.debtToIncomeMax[offer] !== Number.POSITIVE_INFINITY) addOffer(this.debtLimited, offer);
    }
    const reckon = (bytes: number) => this.#reserveBytes(bytes);
    this.ranges = tables.rangeFilters.map(({ min, max }) => new RangeIndex(min, max, reckon));
    this.ageRanges = tables.ageFilters.map(({ minYears }) => {
      const noMax = new Float64Array(minYears.length).fill(Number.POSITIVE_INFINITY);
      return new RangeIndex(
        Float64Array.from(minYears, (years) => (years === 0 ? absentValue : years)),
        noMax,
        reckon,
      );
    });
    const agesBytes = this.ageRanges.length * 2 * Float64Array.BYTES_PER_ELEMENT * tables.offerCount;
    this.#fixedBytes = totalBytes([this.debtLimited, ...this.ranges, ...this.ageRanges]) + agesBytes;
    this.#bytes = this.#fixedBytes;
  }

  get usage(): MatchIndexUsage {
    return {
      bands: this.#bands.flat().length,
      terms: this.#terms.flat().length,
      states: this.#states.flat().length,
      bytes: this.#bytes,
    };
  }

  /**
   * Makes what takes longest and what borrowers of every state need: the bands, and their orders for who asks for no term.
   * What is left to the first borrower of a state, or with a term of their own, is made in a millisecond or a few.
   */
  buildCommonIndexes(): void {
    for (let band = 0; band < this.#tables.bandCount; band++) this.indexForTerm(band, -1);
  }

  indexForBand(band: number): BandIndex {
    let index = this.#bands[band];
    if (index === undefined) {
      index = this.#buildBand(band);
      this.#bands[band] = index;
    }
    return index;
  }

  /** `term` is the applicant's: an index into the terms of the catalog, or -1. */
  indexForTerm(band: number, term: number): TermIndex {
    const ofBand = this.#terms[band]!;
    let index = ofBand[term + 1];
    if (index === undefined) {
      index = this.#buildTerm(band, term);
      ofBand[term + 1] = index;
    }
    return index;
  }

  /** `applicant` is anyone of that state; nothing else of it counts but the band and what follows from the state. */
  indexForState(state: number, applicant: Applicant): StateIndex {
    const ofBand = this.#states[applicant.creditBand]!;
    let index = ofBand[state];
    if (index === undefined) {
      index = this.#buildState(state, applicant);
      ofBand[state] = index;
    }
    return index;
  }

  #buildBand(band: number): BandIndex {
    const tables = this.#tables;
    const { offerCount, bandCount } = tables;
    const termCount = tables.termMonths.length;
    const highestCap = tables.stateAprCap.reduce((highest, cap) => Math.max(highest, cap), 0);
    const allowed = allowedOffers(tables, tables.roles.creditBand, band);
    const offers: number[] = [];
    const amountMax = new Float64Array(offerCount);
    const terms = new Int32Array(offerCount);
    const defaultTerm = new Int8Array(offerCount).fill(-1);
    const minPaymentFactor = new Float64Array(offerCount).fill(Number.POSITIVE_INFINITY);
    for (let offer = 0; offer < offerCount; offer++) {
      const row = offer * bandCount + band;
      amountMax[offer] = tables.amountMax[row]!;
      if (tables.amountMax[row] === 0 || (allowed !== null && !hasOffer(allowed, offer))) continue;
      for (const term of tables.termPreference) {
        const slot = row * termCount + term;
        if (tables.aprMaxPercent[slot]! > highestCap) continue;
        if (terms[offer] === 0) defaultTerm[offer] = term;
        terms[offer]! |= 1 << term;
        minPaymentFactor[offer] = Math.min(minPaymentFactor[offer]!, tables.paymentFactor[slot]!);
      }
      if (terms[offer] !== 0) offers.push(offer);
    }
    const index: BandIndex = {
      offers: Uint16Array.from(offers),
      amounts: new RangeIndex(tables.amountMin, amountMax, (bytes) => this.#reserveBytes(bytes)),
      amountMax,
      terms,
      defaultTerm,
      minPaymentFactor,
      byRevenue: sortByKey(offers, (offer) => revenueKey(tables, offer * bandCount + band)),
    };
    this.#reserveBytes(totalBytes(Object.values(index)));
    return index;
  }

  #buildTerm(band: number, term: number): TermIndex {
    const tables = this.#tables;
    const { offerCount, bandCount } = tables;
    const termCount = tables.termMonths.length;
    const { offers, terms, defaultTerm, amountMax } = this.indexForBand(band);
    const defaultSlot = new Int32Array(offerCount);
    const defaultPaymentFactor = new Float64Array(offerCount);
    for (const offer of offers) {
      const usual = term >= 0 && (terms[offer]! & (1 << term)) !== 0 ? term : defaultTerm[offer]!;
      const slot = (offer * bandCount + band) * termCount + usual;
      defaultSlot[offer] = slot;
      defaultPaymentFactor[offer] = tables.paymentFactor[slot]!;
    }
    const byApr = sortByKey(offers, (offer) => aprKey(tables, defaultSlot[offer]!));
    const byAmount = sortByKey(
      byApr.filter((offer) => !hasOffer(this.debtLimited, offer)),
      (offer) => -amountMax[offer]!,
    );
    const best = this.#bestScores(band, term, defaultSlot);
    const byScore = best === null ? new Uint16Array(0) : sortByKey(offers, (offer) => -best[offer]!);
    const bestScores = Int32Array.from(byScore, (offer) => best![offer]!);
    const index: TermIndex = { defaultSlot, defaultPaymentFactor, byApr, byAmount, byScore, bestScores };
    this.#reserveBytes(totalBytes(Object.values(index)));
    return index;
  }

  /** By offer: the score in the usual slot for somebody who asks for next to nothing of all the offer has. */
  #bestScores(band: number, term: number, usualSlot: Int32Array): Float64Array | null {
    const tables = this.#tables;
    const score = this.#score;
    if (score === null) return null;
    const applicant = emptyApplicant();
    applicant.creditBand = band;
    applicant.termIndex = term;
    // A term that no offer of the catalog has fits worse than none at all, so one order serves both.
    applicant.termMonths = term < 0 ? absentValue : tables.termMonths[term]!;
    const price = emptyOfferPrice();
    const best = new Float64Array(tables.offerCount);
    const { offers, amountMax } = this.indexForBand(band);
    for (const offer of offers) {
      price.slot = usualSlot[offer]!;
      price.termIndex = price.slot % tables.termMonths.length;
      price.openTerms = 1 << price.termIndex;
      price.amountMax = amountMax[offer]!;
      best[offer] = score(tables, offer, applicant, price);
    }
    return best;
  }

  #buildState(state: number, asked: Applicant): StateIndex {
    const tables = this.#tables;
    const { offers, terms, defaultTerm, amountMax } = this.indexForBand(asked.creditBand);
    // Nobody's debts close a term, and the largest amount passes every other rule on amounts.
    const applicant = Object.assign(emptyApplicant(), asked);
    applicant.annualIncome = Number.POSITIVE_INFINITY;
    applicant.monthlyDebt = 0;
    const price = emptyOfferPrice();
    const offered = emptyOfferSet(tables.offerCount);
    const raisedMinimum = emptyOfferSet(tables.offerCount);
    const nonDefaultTerm: (OfferSet | undefined)[] = new Array(tables.termMonths.length + 1).fill(undefined);
    let lowestRaisedMinimum = Number.POSITIVE_INFINITY;
    let highestRaisedMinimum = 0;
    const allowed = allowedOffers(tables, tables.roles.state, state);
    for (const offer of offers) {
      if (allowed !== null && !hasOffer(allowed, offer)) continue;
      applicant.amount = amountMax[offer]!;
      if (!priceOffer(tables, offer, applicant, price)) continue;
      addOffer(offered, offer);
      if (price.amountMin > tables.amountMin[offer]!) {
        addOffer(raisedMinimum, offer);
        lowestRaisedMinimum = Math.min(lowestRaisedMinimum, price.amountMin);
        highestRaisedMinimum = Math.max(highestRaisedMinimum, price.amountMin);
      }
      if (price.openTerms === terms[offer]!) continue;
      // Closed here: the terms themselves, or the one quoted to whoever asks for none that the offer has.
      const usualClosed = (price.openTerms & (1 << defaultTerm[offer]!)) === 0;
      for (let place = 0; place < nonDefaultTerm.length; place++) {
        const bit = place === 0 ? 0 : 1 << (place - 1);
        const closed = (terms[offer]! & bit) !== 0 ? (price.openTerms & bit) === 0 : usualClosed;
        if (!closed) continue;
        const bits = nonDefaultTerm[place] ?? emptyOfferSet(tables.offerCount);
        addOffer(bits, offer);
        nonDefaultTerm[place] = bits;
      }
    }
    this.#reserveBytes(totalBytes([offered, raisedMinimum, ...nonDefaultTerm.filter((bits) => bits !== undefined)]));
    return { offered, raisedMinimum, lowestRaisedMinimum, highestRaisedMinimum, nonDefaultTerm };
  }

  /** Makes room for what is about to be kept. */
  #reserveBytes(bytes: number): void {
    if (this.#bytes + bytes > this.#bytesMax) {
      this.#bands.length = 0;
      for (const terms of this.#terms) terms.length = 0;
      for (const states of this.#states) states.length = 0;
      for (const range of [...this.ranges, ...this.ageRanges]) range.clear();
      this.#bytes = this.#fixedBytes;
    }
    this.#bytes += bytes;
  }
}

function totalBytes(columns: readonly { readonly byteLength: number }[]): number {
  return columns.reduce((sum, column) => sum + column.byteLength, 0);
}

function allowedOffers(tables: LoanTables, field: number, value: number): OfferSet | null {
  return tables.choiceFilters.find((filter) => filter.field === field)?.allowed.get(value) ?? null;
}

/** Offers by a whole-numbered key below 2^37 either side of 0, the least first; ties stay in the order given. */
function sortByKey(offers: ArrayLike<number>, keyOf: (offer: number) => number): Uint16Array {
  // Numbers sort many times faster than objects, and a key and a place together are still exact.
  const packed = new Float64Array(offers.length);
  for (let place = 0; place < offers.length; place++) packed[place] = keyOf(offers[place]!) * 2 ** 15 + place;
  packed.sort();
  const ordered = new Uint16Array(offers.length);
  for (let at = 0; at < ordered.length; at++)
    ordered[at] = offers[packed[at]! - Math.floor(packed[at]! / 2 ** 15) * 2 ** 15]!;
  return ordered;
}
