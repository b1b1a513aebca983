import type { CatalogBand } from './catalog-schema.ts';

/** What a band asks for at one term, in percent: the rates of the term where it has some, else those of the band. */
export function termPrice(band: CatalogBand, months: number): { min: number; max: number; feePercent: number } {
  const own = band.terms?.[months];
  const { min, max } = own?.note_rate_percent ?? band.note_rate_percent;
  return { min, max, feePercent: own?.origination_fee_percent ?? band.origination_fee_percent };
}
