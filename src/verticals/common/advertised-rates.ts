import type { CatalogErrors, CatalogValuePath } from '../../catalogs/catalog-errors.ts';

/** Range of rates in percent, including both ends. */
export interface RateRange {
  readonly min: number;
  readonly max: number;
}

/**
 * Warns about each percentage in a lender's `legal` text that the text calls an APR or APY, and that is none of the offer's rates.
 *
 * @param listRates returns the rates of the offer; called only if the text names a percentage
 */
export function checkAdvertisedRates(
  legal: string | undefined,
  path: CatalogValuePath,
  errors: CatalogErrors,
  listRates: () => readonly RateRange[],
): void {
  const advertised = legal === undefined ? [] : findAdvertisedRates(legal);
  if (advertised.length === 0) return;
  const rates = listRates();
  for (const { rate, name } of advertised) {
    // Half of the last digit, because the text contains rounded rates.
    const isOffered = rates.some(({ min, max }) => rate > min - 0.005_001 && rate < max + 0.005_001);
    if (!isOffered) errors.addWarning(path, `contains ${rate} % as ${name}, which is no ${name} of the offer`);
  }
}

const percentage = String.raw`\d{1,3}(?:\.\d+)? ?%`;
/** Percentages of a range, such as `5% to 9%`, or of a list of tiers, such as `1% from $0, 2% from $500`. */
const percentages = String.raw`${percentage}(?: ?(?:to|and|or|-|–) ?${percentage}| from \$?[\d,.]*\d(?: USD)?, ${percentage})*`;
/** A rate after its name, or a rate with at most three words between the rate and its name, such as `9% variable APR`. */
const advertisedRate = new RegExp(
  String.raw`(?<before>${percentages})(?: [a-z]+){0,3} (?<nameAfter>AP[RY])s?\b|\b(?<nameBefore>AP[RY])s?\b(?<between>[^.;%]|\.\d)*?(?<!\d|\.)(?<after>${percentages})`,
  'gi',
);

/** Returns the rates in percent that a text calls an APR or APY, in words or as an abbreviation. */
function findAdvertisedRates(text: string): readonly { readonly rate: number; readonly name: string }[] {
  const abbreviated = text
    .replaceAll(/annual percentage (rate|yield)s?/gi, (_, word: string) => (/rate/i.test(word) ? 'APR' : 'APY'))
    .replaceAll(/(AP[RY])s? \(\1s?\)/gi, '$1');
  const rates: { rate: number; name: string }[] = [];
  for (const { groups } of abbreviated.matchAll(advertisedRate)) {
    const { before, after, nameAfter, nameBefore } = groups as Record<string, string | undefined>;
    const name = (nameAfter ?? nameBefore)!.toUpperCase();
    for (const [found] of (before ?? after)!.matchAll(new RegExp(percentage, 'g'))) {
      rates.push({ rate: Number.parseFloat(found), name });
    }
  }
  return rates;
}
