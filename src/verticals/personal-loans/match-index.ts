import { bounds } from '../../bounds.ts';
import { absentValue } from '../../domain/field-vector.ts';
import { CriteriaIndex } from '../../matching/criteria-index.ts';
import { addOffer, emptyOfferSet, hasOffer, type OfferSet } from '../../matching/offer-set.ts';
import { RangeIndex } from '../../matching/range-index.ts';
import type { LoanTables } from './loan-tables.ts';
import { type Applicant, calculatePrice, createEmptyLoanPrice, emptyApplicant } from './price-offer.ts';
import { aprSortKey, type OfferScorer, revenueSortKey } from './sort-keys.ts';

/** Offer sets and sort orders for one credit band. */
export interface OffersByCreditBand {
  /** Offers that serve the credit band, in ascending order of their numbers. */
  readonly offers: Uint16Array;
  readonly amounts: RangeIndex;
  /** Maximum loan amount by offer number, in USD, for borrowers of the credit band; 0 if the offer does not serve the band. */
  readonly amountMax: Float64Array;
  /** For each offer number, the bit set of the offer's loan terms, without terms whose APR exceeds the APR cap of every state. */
  readonly terms: Int32Array;
  /** For each offer number, the index of the loan term for borrowers who request no term; -1 if the offer has no term in `terms`. */
  readonly defaultTerm: Int8Array;
  /** Lowest monthly payment per dollar among the terms in `terms`, by offer number. */
  readonly minPaymentFactor: Float64Array;
  /** Offers of this credit band, in the sort order `svc_revenue`. */
  readonly byRevenue: Uint16Array;
}

/**
 * Sort orders of the offers for one credit band and one requested term. The *default term* of an offer is the requested term if
 * `OffersByCreditBand.terms` contains the requested term, otherwise `OffersByCreditBand.defaultTerm`. An offer is quoted at another term
 * only if a state's APR cap or the borrower's debts exclude the default term.
 */
export interface OffersByLoanTerm {
  /** For each offer number, the index (slot) in the price tables for the offer at its default term. */
  readonly defaultSlot: Int32Array;
  readonly defaultPaymentFactor: Float64Array;
  /** Offers of the credit band in the sort order `lowest_apr`, priced at their default terms. */
  readonly byApr: Uint16Array;
  /** Offers of the credit band that have no debt-to-income limit, in the sort order `highest_amount`, priced at their default terms. */
  readonly byAmount: Uint16Array;
  /** Offers of the credit band, sorted by the highest score that any borrower can get at the default term; see `computeMaxScores`. */
  readonly byScore: Uint16Array;
  /** Highest possible score of each offer in `byScore`, in the same order. */
  readonly bestScores: Int32Array;
}

/** Offer sets for borrowers of one credit band and one state, with any income and any debts. */
export interface OffersByUsState {
  /** Offers whose criteria allow this state and credit band and that have at least one available term. */
  readonly offered: OfferSet;
  /**
   * Offers whose APR at the default term exceeds the state's APR cap. Array element 0 is for borrowers who request no term, and array
   * element `i + 1` for borrowers who request the term with index `i`.
   */
  readonly nonDefaultTerm: readonly (OfferSet | undefined)[];
  /** Offers whose own minimum amount is below the minimum amount that the rules of the state require. */
  readonly raisedMinimum: OfferSet;
  readonly lowestRaisedMinimum: number;
  readonly highestRaisedMinimum: number;
}

/** Number of parts of the index that are built, for each kind of part, and the total size of the index in bytes. */
interface MatchIndexUsage {
  readonly bands: number;
  readonly terms: number;
  readonly states: number;
  readonly bytes: number;
}

/**
 * Index of the offers of a catalog. The index contains sets and sort orders of offers for each credit band, requested term and state of
 * borrowers. Each part of the index is built when it is first used. All parts of the index together need about as much memory as the tables
 * of the catalog. If a new part would make the index larger than `bytesMax` bytes, all parts that can be built again are deleted. A deleted
 * part is built again when it is next used. A ranking in progress can still use parts that are deleted from the index during the ranking.
 */
export class MatchIndex {
  /** Offers with a debt-to-income limit. */
  readonly debtLimited: OfferSet;
  readonly criteria: CriteriaIndex;
  readonly #tables: LoanTables;
  readonly #score: OfferScorer;
  readonly #bands: OffersByCreditBand[];
  /** `#terms[band][0]` applies if no term is requested, `#terms[band][i + 1]` if the term `LoanTables.termMonths[i]` is requested. */
  readonly #terms: OffersByLoanTerm[][];
  /** One `OffersByUsState` for each credit band and US state. */
  readonly #states: OffersByUsState[][];
  readonly #bytesMax: number;
  /** Size in bytes of the parts of the index that are never deleted. */
  readonly #fixedBytes: number;
  #bytes = 0;

  constructor(tables: LoanTables, score: OfferScorer, bytesMax: number = bounds.matchIndexBytesMax) {
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
    this.criteria = new CriteriaIndex(tables, (bytes) => this.#reserveMemory(bytes));
    this.#fixedBytes = totalBytes([this.debtLimited, this.criteria]);
    this.#bytes = this.#fixedBytes;
  }

  get memoryUsage(): MatchIndexUsage {
    return {
      bands: this.#bands.flat().length,
      terms: this.#terms.flat().length,
      states: this.#states.flat().length,
      bytes: this.#bytes,
    };
  }

  /**
   * Builds the slowest parts of the index: for each credit band, the `OffersByCreditBand`, and the `OffersByLoanTerm` for no requested
   * term. Parts of the index that this method does not build take only a few milliseconds, and are built when they are first used.
   */
  prebuildIndexes(): void {
    for (let band = 0; band < this.#tables.bandCount; band++) this.getOffersByLoanTerm(band, -1);
  }

  getOffersByCreditBand(band: number): OffersByCreditBand {
    this.#bands[band] ??= this.#indexByCreditBand(band);
    return this.#bands[band];
  }

  /** @param term index of the requested term in `LoanTables.termMonths`, or -1 if no term is requested */
  getOffersByLoanTerm(band: number, term: number): OffersByLoanTerm {
    const ofBand = this.#terms[band]!;
    ofBand[term + 1] ??= this.#indexByLoanTerm(band, term);
    return ofBand[term + 1]!;
  }

  /** @param applicant an applicant who lives in the state; the index depends only on the state and on the credit band of the applicant */
  getOffersByUsState(state: number, applicant: Applicant): OffersByUsState {
    const ofBand = this.#states[applicant.creditBand]!;
    ofBand[state] ??= this.#indexByUsState(state, applicant);
    return ofBand[state];
  }

  #indexByCreditBand(band: number): OffersByCreditBand {
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
    const index: OffersByCreditBand = {
      offers: Uint16Array.from(offers),
      amounts: new RangeIndex(tables.amountMin, amountMax, (bytes) => this.#reserveMemory(bytes)),
      amountMax,
      terms,
      defaultTerm,
      minPaymentFactor,
      byRevenue: sortByKey(offers, (offer) => revenueSortKey(tables, offer * bandCount + band)),
    };
    this.#reserveMemory(totalBytes(Object.values(index)));
    return index;
  }

  #indexByLoanTerm(band: number, term: number): OffersByLoanTerm {
    const tables = this.#tables;
    const { offerCount, bandCount } = tables;
    const termCount = tables.termMonths.length;
    const { offers, terms, defaultTerm, amountMax } = this.getOffersByCreditBand(band);
    const defaultSlot = new Int32Array(offerCount);
    const defaultPaymentFactor = new Float64Array(offerCount);
    for (const offer of offers) {
      const quotedTerm = term >= 0 && (terms[offer]! & (1 << term)) !== 0 ? term : defaultTerm[offer]!;
      const slot = (offer * bandCount + band) * termCount + quotedTerm;
      defaultSlot[offer] = slot;
      defaultPaymentFactor[offer] = tables.paymentFactor[slot]!;
    }
    const byApr = sortByKey(offers, (offer) => aprSortKey(tables, defaultSlot[offer]!));
    const byAmount = sortByKey(
      byApr.filter((offer) => !hasOffer(this.debtLimited, offer)),
      (offer) => -amountMax[offer]!,
    );
    const best = this.#computeMaxScores(band, term, defaultSlot);
    const byScore = sortByKey(offers, (offer) => -best[offer]!);
    const bestScores = Int32Array.from(byScore, (offer) => best[offer]!);
    const index: OffersByLoanTerm = { defaultSlot, defaultPaymentFactor, byApr, byAmount, byScore, bestScores };
    this.#reserveMemory(totalBytes(Object.values(index)));
    return index;
  }

  /** Computes the highest score that any applicant can get for each offer at its default term, by offer number. */
  #computeMaxScores(band: number, term: number, defaultSlot: Int32Array): Float64Array {
    const tables = this.#tables;
    const score = this.#score;
    const applicant = emptyApplicant();
    applicant.creditBand = band;
    applicant.termIndex = term;
    // `term` is -1 if no term is requested, or if no offer has the requested term. An offer has its highest score if no term is requested.
    applicant.termMonths = term < 0 ? absentValue : tables.termMonths[term]!;
    const price = createEmptyLoanPrice();
    const best = new Float64Array(tables.offerCount);
    const { offers, amountMax } = this.getOffersByCreditBand(band);
    for (const offer of offers) {
      price.slot = defaultSlot[offer]!;
      price.termIndex = price.slot % tables.termMonths.length;
      price.openTerms = 1 << price.termIndex;
      price.amountMax = amountMax[offer]!;
      best[offer] = score(tables, offer, applicant, price);
    }
    return best;
  }

  #indexByUsState(state: number, requester: Applicant): OffersByUsState {
    const tables = this.#tables;
    const { offers, terms, defaultTerm, amountMax } = this.getOffersByCreditBand(requester.creditBand);
    // With unlimited income, no debts and the maximum amount, only the state or the credit band can exclude an offer.
    const applicant = Object.assign(emptyApplicant(), requester);
    applicant.annualIncome = Number.POSITIVE_INFINITY;
    applicant.monthlyDebt = 0;
    const price = createEmptyLoanPrice();
    const offered = emptyOfferSet(tables.offerCount);
    const raisedMinimum = emptyOfferSet(tables.offerCount);
    const nonDefaultTerm: (OfferSet | undefined)[] = new Array(tables.termMonths.length + 1).fill(undefined);
    let lowestRaisedMinimum = Number.POSITIVE_INFINITY;
    let highestRaisedMinimum = 0;
    const allowed = allowedOffers(tables, tables.roles.state, state);
    for (const offer of offers) {
      if (allowed !== null && !hasOffer(allowed, offer)) continue;
      applicant.amount = amountMax[offer]!;
      if (!calculatePrice(tables, offer, applicant, price)) continue;
      addOffer(offered, offer);
      if (price.amountMin > tables.amountMin[offer]!) {
        addOffer(raisedMinimum, offer);
        lowestRaisedMinimum = Math.min(lowestRaisedMinimum, price.amountMin);
        highestRaisedMinimum = Math.max(highestRaisedMinimum, price.amountMin);
      }
      if (price.openTerms === terms[offer]!) continue;
      // Whether the state excludes `defaultTerm`, which is quoted if the offer lacks the requested term.
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
    this.#reserveMemory(totalBytes([offered, raisedMinimum, ...nonDefaultTerm.filter((bits) => bits !== undefined)]));
    return { offered, raisedMinimum, lowestRaisedMinimum, highestRaisedMinimum, nonDefaultTerm };
  }

  /**
   * Adds the size of a new part to the size of the index. If the size of the index would exceed `bytesMax`, first deletes all parts that
   * can be built again.
   */
  #reserveMemory(bytes: number): void {
    if (this.#bytes + bytes > this.#bytesMax) {
      this.#bands.length = 0;
      for (const terms of this.#terms) terms.length = 0;
      for (const states of this.#states) states.length = 0;
      this.criteria.clearBuckets();
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

/** Sorts offers by an integer key between -2^37 and 2^37, ascending. Offers with equal keys keep their order. */
function sortByKey(offers: ArrayLike<number>, keyOf: (offer: number) => number): Uint16Array {
  // Each number is the sort key of an offer times 2^15, plus the position of the offer in `offers`. Each number is at most 2^52, so a
  // double stores the number exactly. Sorting numbers is many times faster than sorting objects.
  const packed = new Float64Array(offers.length);
  for (let place = 0; place < offers.length; place++) packed[place] = keyOf(offers[place]!) * 2 ** 15 + place;
  packed.sort();
  const ordered = new Uint16Array(offers.length);
  for (let at = 0; at < ordered.length; at++)
    ordered[at] = offers[packed[at]! - Math.floor(packed[at]! / 2 ** 15) * 2 ** 15]!;
  return ordered;
}
