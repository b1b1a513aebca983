import { bounds } from '../../bounds.ts';
import { addOffer, emptyOfferSet, hasOffer, type OfferSet } from '../../matching/offer-set.ts';
import { RangeIndex } from '../../matching/range-index.ts';
import { absentValue } from '../field-vector.ts';
import type { LoanTables } from './loan-tables.ts';
import { type Applicant, emptyApplicant, emptyOfferPrice, priceOffer } from './price-offer.ts';
import { aprKey, revenueKey, type ScoreOffer } from './sort-keys.ts';

/** Index of the offers for one credit band. */
export interface BandIndex {
  /** The offers that serve the band, in the order of their numbers. */
  readonly offers: Uint16Array;
  readonly amounts: RangeIndex;
  /** By offer: the largest amount; 0 if the offer does not serve the band. */
  readonly amountMax: Float64Array;
  /** By offer: the terms within the highest APR cap of all states, as bits. No other term is open to anybody. */
  readonly terms: Int32Array;
  /** By offer: the one of `terms` that is quoted if no term is requested; -1 for none. */
  readonly defaultTerm: Int8Array;
  /** By offer: the lowest payment factor of `terms`. */
  readonly minPaymentFactor: Float64Array;
  /** `offers` in the order of `svc_revenue`. */
  readonly byRevenue: Uint16Array;
}

/**
 * Index of the offers for one credit band and one requested term. The *default slot* of an offer is the one quoted unless the APR cap
 * of a state or the borrower's debts close its term.
 */
export interface TermIndex {
  /** By offer. */
  readonly defaultSlot: Int32Array;
  readonly defaultPaymentFactor: Float64Array;
  /** The offers of the band in the order of `lowest_apr`, by their default slots. */
  readonly byApr: Uint16Array;
  /** The offers without a debt-to-income limit in the order of `highest_amount`, by their default slots. */
  readonly byAmount: Uint16Array;
  /** The offers of the band by the best score that any borrower can get for their default slots, and these scores in the same order. */
  readonly byScore: Uint16Array;
  readonly bestScores: Int32Array;
}

/** Index of the offers for one credit band and state, without regard to debts. */
export interface StateIndex {
  /** Offers that the criteria on state and band admit and that have an open term. */
  readonly offered: OfferSet;
  /** By index of the requested term, plus 1: the offers that are quoted another slot than their default; undefined for none. */
  readonly nonDefaultTerm: readonly (OfferSet | undefined)[];
  /** The offers whose minimum amount is higher in this state, and the lowest and highest of these minimums. */
  readonly raisedMinimum: OfferSet;
  readonly lowestRaisedMinimum: number;
  readonly highestRaisedMinimum: number;
}

/** The parts that are in memory, by kind, and their size. */
interface MatchIndexUsage {
  readonly bands: number;
  readonly terms: number;
  readonly states: number;
  readonly bytes: number;
}

/**
 * Sets and orders of the offers of a catalog that depend on few properties of a borrower. Each part is built at its first use. All
 * parts of a catalog take about as much memory as its tables. If a new part would exceed `bytesMax`, all others are dropped and built
 * again when needed; a ranking in progress may still use a dropped part.
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
  /** By band, then by index of the requested term, plus 1. */
  readonly #terms: TermIndex[][];
  /** By band, then by state. */
  readonly #states: StateIndex[][];
  readonly #bytesMax: number;
  /** Size of the parts that are never dropped. */
  readonly #fixedBytes: number;
  #bytes = 0;

  /** `score` is null if no order by score is needed. */
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
    const reserveBytes = (bytes: number) => this.#reserveBytes(bytes);
    this.ranges = tables.rangeFilters.map(({ min, max }) => new RangeIndex(min, max, reserveBytes));
    this.ageRanges = tables.ageFilters.map(({ minYears }) => {
      const noMax = new Float64Array(minYears.length).fill(Number.POSITIVE_INFINITY);
      return new RangeIndex(
        Float64Array.from(minYears, (years) => (years === 0 ? absentValue : years)),
        noMax,
        reserveBytes,
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
   * Builds the parts that take longest and that borrowers of every state need: the bands, and their orders without a requested term.
   * Each of the other parts takes a few milliseconds at its first use.
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

  /** `term` is an index into the terms of the catalog, or -1 for none. */
  indexForTerm(band: number, term: number): TermIndex {
    const ofBand = this.#terms[band]!;
    let index = ofBand[term + 1];
    if (index === undefined) {
      index = this.#buildTerm(band, term);
      ofBand[term + 1] = index;
    }
    return index;
  }

  /** `applicant` may be any applicant of that state; only its credit band and state count. */
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
      const quotedTerm = term >= 0 && (terms[offer]! & (1 << term)) !== 0 ? term : defaultTerm[offer]!;
      const slot = (offer * bandCount + band) * termCount + quotedTerm;
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

  /** By offer: the score in the default slot for an applicant with the smallest request, which no other applicant exceeds. */
  #bestScores(band: number, term: number, defaultSlot: Int32Array): Float64Array | null {
    const tables = this.#tables;
    const score = this.#score;
    if (score === null) return null;
    const applicant = emptyApplicant();
    applicant.creditBand = band;
    applicant.termIndex = term;
    // A requested term that no offer has scores no higher than none, so one order serves both.
    applicant.termMonths = term < 0 ? absentValue : tables.termMonths[term]!;
    const price = emptyOfferPrice();
    const best = new Float64Array(tables.offerCount);
    const { offers, amountMax } = this.indexForBand(band);
    for (const offer of offers) {
      price.slot = defaultSlot[offer]!;
      price.termIndex = price.slot % tables.termMonths.length;
      price.openTerms = 1 << price.termIndex;
      price.amountMax = amountMax[offer]!;
      best[offer] = score(tables, offer, applicant, price);
    }
    return best;
  }

  #buildState(state: number, requester: Applicant): StateIndex {
    const tables = this.#tables;
    const { offers, terms, defaultTerm, amountMax } = this.indexForBand(requester.creditBand);
    // Without debts no term is closed by them, and the largest amount passes every other rule on amounts.
    const applicant = Object.assign(emptyApplicant(), requester);
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
      // The state closes the requested term, or the default term of an offer that does not have the requested one.
      const defaultClosed = (price.openTerms & (1 << defaultTerm[offer]!)) === 0;
      for (let place = 0; place < nonDefaultTerm.length; place++) {
        const bit = place === 0 ? 0 : 1 << (place - 1);
        const closed = (terms[offer]! & bit) !== 0 ? (price.openTerms & bit) === 0 : defaultClosed;
        if (!closed) continue;
        const bits = nonDefaultTerm[place] ?? emptyOfferSet(tables.offerCount);
        addOffer(bits, offer);
        nonDefaultTerm[place] = bits;
      }
    }
    this.#reserveBytes(totalBytes([offered, raisedMinimum, ...nonDefaultTerm.filter((bits) => bits !== undefined)]));
    return { offered, raisedMinimum, lowestRaisedMinimum, highestRaisedMinimum, nonDefaultTerm };
  }

  /** Drops all parts if the new one would exceed the limit. */
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

/** Sorts offers by an integer key between -2^37 and 2^37, ascending; offers with equal keys keep their order. */
function sortByKey(offers: ArrayLike<number>, keyOf: (offer: number) => number): Uint16Array {
  // Numbers sort many times faster than objects, and a double holds key and position exactly.
  const packed = new Float64Array(offers.length);
  for (let place = 0; place < offers.length; place++) packed[place] = keyOf(offers[place]!) * 2 ** 15 + place;
  packed.sort();
  const ordered = new Uint16Array(offers.length);
  for (let at = 0; at < ordered.length; at++)
    ordered[at] = offers[packed[at]! - Math.floor(packed[at]! / 2 ** 15) * 2 ** 15]!;
  return ordered;
}
