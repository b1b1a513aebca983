import { type CompiledCatalog, compileCatalog } from '../../../src/catalogs/compile-catalog.ts';
import { absentValue, type FieldVector, findFieldIndex } from '../../../src/domain/field-vector.ts';
import { builtInVerticals } from '../../../src/verticals/built-in-verticals.ts';
import type { AdvisorTables } from '../../../src/verticals/find-advisor/advisor-tables.ts';
import { findAdvisor } from '../../../src/verticals/find-advisor/find-advisor.ts';
import type { AdvisorCatalog, AdvisorOffer } from '../../../src/verticals/find-advisor/offer-schema.ts';
import { borrowerOf } from '../../matching/loan-fixtures.ts';
import { type Random, randomBorrower } from '../../support/random-catalog.ts';

/** Compact date on which all tests of advisors take place. */
export const today = 20260801;

/** A visitor who gets many advisors. */
export const saver = { advice_topic: 'retirement', investable_assets: 200_000, state: 'CA' } as const;

export type CompiledAdvisors = CompiledCatalog & { readonly tables: AdvisorTables };

export function compileAdvisors(catalog: AdvisorCatalog): CompiledAdvisors {
  return compileCatalog(catalog, builtInVerticals.withProduct(findAdvisor), { mode: 'live' }) as CompiledAdvisors;
}

/** Returns the vector of a visitor who submitted these fields. */
export const visitorOf = (fields: Readonly<Record<string, unknown>>): FieldVector => borrowerOf(fields, findAdvisor);

/** Returns an advisor in California and Nevada who charges 1 % of the assets. */
export function plainAdvisor(changes: Partial<AdvisorOffer> = {}): AdvisorOffer {
  const fees = changes.fee_model === undefined ? { fee_tiers: [{ from: 0, percent: 1 }] } : {};
  return {
    id: 'plain',
    name: 'Ada Plain',
    stars: 4,
    features: [],
    prequalification: true,
    landing_url: 'https://plain.example/?c={click_id}',
    legal: 'Plain Advisers is a registered investment adviser.',
    terms_url: 'https://plain.example/fees',
    as_of: '2026-07-01',
    compensation_disclosure: 'Plain Advisers pays us for this introduction, whether or not you hire the advisor.',
    criteria: [{ field: 'state', in: ['CA', 'NV'] }],
    payout_usd: 100,
    confirm_rate: 0.1,
    firm_type: 'ria',
    fiduciary: true,
    credentials: ['cfp'],
    fee_model: 'percent_of_assets',
    ...fees,
    minimum_assets: 0,
    services: ['retirement', 'tax'],
    meeting: 'both',
    years: 10,
    crd_number: '999999999',
    disclosures_url: 'https://plain.example/form-crs',
    has_disclosures: false,
    ...changes,
  };
}

/** Returns a catalog of one firm with these advisors. */
export function advisorCatalogOf(offers: readonly AdvisorOffer[]): AdvisorCatalog {
  return {
    format: 1,
    vertical: 'find-advisor',
    disclosure: 'Made up for tests.',
    lenders: [{ name: 'Plain Advisers', logo: 'plain.svg', offers: [...offers] }],
  };
}

/** Returns a random visitor whose assets are often at the edge of a tier or of a minimum, and who rarely lacks a required field. */
export function drawVisitor(random: Random, absentChance = 0.3): FieldVector {
  const visitor = randomBorrower(random, findAdvisor, absentChance);
  const edges = [0, 1, 10_000, 50_000, 100_000, 250_000, 500_000, 1_000_000, 3_000_000, 5_000_000, 100_000_000];
  const edge = edges[Math.floor(random() * edges.length * 2)];
  if (edge !== undefined) {
    const assets = Math.min(100_000_000, Math.max(0, edge + Math.floor(random() * 3) - 1));
    visitor[findFieldIndex(findAdvisor, 'investable_assets')] = assets;
  }
  if (random() < 0.04) visitor[Math.floor(random() * visitor.length)] = absentValue;
  return visitor;
}
