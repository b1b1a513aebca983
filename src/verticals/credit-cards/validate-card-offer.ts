import { bounds } from '../../bounds.ts';
import type { CatalogErrors, CatalogValuePath } from '../../catalogs/catalog-errors.ts';
import { getChoiceValues } from '../../domain/field-vector.ts';
import type { Vertical } from '../../domain/vertical.ts';
import { checkAdvertisedRates } from '../common/advertised-rates.ts';
import { type AprRange, baseRewardCategory, type CardOffer, purposeFieldName } from './offer-schema.ts';

/** Reports figures of a card that contradict each other, that the law does not allow, or that the vertical does not know. */
export function validateCardOffer(
  offer: CardOffer,
  path: CatalogValuePath,
  vertical: Vertical,
  errors: CatalogErrors,
): void {
  checkPurposes(offer, path, vertical, errors);
  checkRewards(offer, path, errors);
  checkBands(offer, path, vertical, errors);
  checkIntroRates(offer, path, errors);
  checkPenaltyRate(offer, path, errors);
  checkSecurityDeposit(offer, path, errors);
  if (offer.variable === undefined) {
    errors.addWarning(
      [...path, 'variable'],
      'is missing: say whether the purchase APR follows an index (12 CFR 1026.60(b)(1))',
    );
  }
  if (offer.grace_period_days > 0 && offer.grace_period_days < bounds.cardGraceDaysMin) {
    errors.add([...path, 'grace_period_days'], `must be 0 or at least ${bounds.cardGraceDaysMin}`);
  }
  for (const member of cardFigureMembers) checkDecimalPlaces(offer[member], [...path, member], errors);
  checkAdvertisedRates(offer.legal, [...path, 'legal'], errors, () => listAprRanges(offer));
}

function listAprRanges(offer: CardOffer): AprRange[] {
  const bands = Object.values(offer.bands);
  const rates = [
    offer.cash_advance_apr,
    offer.penalty_apr,
    offer.intro_purchase_apr?.percent,
    offer.intro_transfer_apr?.percent,
  ];
  return [
    ...bands.flatMap(({ purchase_apr, transfer_apr = purchase_apr }) => [purchase_apr, transfer_apr]),
    ...rates.flatMap((rate) => (rate === undefined ? [] : [{ min: rate, max: rate }])),
  ];
}

/** Members of an offer with amounts and rates, which are stored in cents and in hundredths of a percent. */
const cardFigureMembers = [
  'annual_fee',
  'annual_fee_first_year',
  'cash_advance_apr',
  'penalty_apr',
  'intro_purchase_apr',
  'intro_transfer_apr',
  'minimum_interest_charge',
  'transfer_fee',
  'cash_advance_fee',
  'foreign_transaction_fee_percent',
  'late_fee_max',
  'returned_payment_fee_max',
  'rewards',
  'bonus',
  'security_deposit_min',
  'security_deposit_max',
] as const satisfies readonly (keyof CardOffer)[];

/** Reports each number in a value, which may be an object or an array, that has more than two decimals. */
function checkDecimalPlaces(value: unknown, path: CatalogValuePath, errors: CatalogErrors): void {
  if (typeof value === 'number') {
    if (Math.round(value * 100) / 100 !== value) errors.add(path, 'must have at most two decimals');
  } else if (typeof value === 'object' && value !== null) {
    for (const [name, member] of Object.entries(value)) {
      checkDecimalPlaces(member, [...path, Array.isArray(value) ? Number(name) : name], errors);
    }
  }
}

function checkPurposes({ purposes }: CardOffer, path: CatalogValuePath, vertical: Vertical, errors: CatalogErrors) {
  const known = getChoiceValues(vertical, purposeFieldName);
  if (new Set(purposes).size < purposes.length) errors.add([...path, 'purposes'], 'must not repeat a value');
  for (const [index, purpose] of purposes.entries()) {
    if (!known.includes(purpose)) errors.add([...path, 'purposes', index], `is not a value of ${purposeFieldName}`);
  }
}

function checkRewards({ rewards }: CardOffer, path: CatalogValuePath, errors: CatalogErrors): void {
  const categories = rewards.map(({ category }) => category);
  if (new Set(categories).size < categories.length) errors.add([...path, 'rewards'], 'must not repeat a category');
  if (!categories.includes(baseRewardCategory)) {
    errors.add([...path, 'rewards'], `must hold a rate for the category ${baseRewardCategory}`);
  }
}

function checkBands({ bands }: CardOffer, path: CatalogValuePath, vertical: Vertical, errors: CatalogErrors): void {
  const { creditBand } = vertical.roles;
  const names = getChoiceValues(vertical, creditBand);
  const entries = Object.entries(bands);
  if (entries.length === 0) errors.add([...path, 'bands'], 'must hold at least one band');
  for (const [name, { purchase_apr, transfer_apr }] of entries) {
    const bandPath = [...path, 'bands', name];
    if (!names.includes(name)) errors.add(bandPath, `is not a value of ${creditBand}`);
    checkAprRange(purchase_apr, [...bandPath, 'purchase_apr'], errors);
    if (transfer_apr !== undefined) checkAprRange(transfer_apr, [...bandPath, 'transfer_apr'], errors);
  }
}

function checkAprRange(range: AprRange, path: CatalogValuePath, errors: CatalogErrors): void {
  if (range.min > range.max) errors.add(path, 'min must not exceed max');
  checkDecimalPlaces(range, path, errors);
}

/** Reports an introductory rate that is not below the rate that follows (12 CFR 1026.16(g)). */
function checkIntroRates(offer: CardOffer, path: CatalogValuePath, errors: CatalogErrors): void {
  const bands = Object.values(offer.bands);
  for (const [member, ranges] of [
    ['intro_purchase_apr', bands.map(({ purchase_apr }) => purchase_apr)],
    ['intro_transfer_apr', bands.map(({ purchase_apr, transfer_apr = purchase_apr }) => transfer_apr)],
  ] as const) {
    const intro = offer[member];
    if (intro !== undefined && ranges.some(({ min }) => intro.percent >= min)) {
      errors.add([...path, member, 'percent'], 'must be below the APRs of all bands that follow it');
    }
  }
}

function checkPenaltyRate({ penalty_apr, bands }: CardOffer, path: CatalogValuePath, errors: CatalogErrors): void {
  const isBelow = Object.values(bands).some(({ purchase_apr }) => penalty_apr! < purchase_apr.max);
  if (penalty_apr !== undefined && isBelow) {
    errors.add([...path, 'penalty_apr'], 'must be at least the highest purchase APR of the bands');
  }
}

function checkSecurityDeposit(
  { security_deposit_min: min, security_deposit_max: max }: CardOffer,
  path: CatalogValuePath,
  errors: CatalogErrors,
): void {
  if (max !== undefined && (min === undefined || max < min)) {
    errors.add([...path, 'security_deposit_max'], 'must be at least security_deposit_min, which must be present');
  }
  if (min !== undefined && max === undefined) {
    errors.addWarning(
      [...path, 'security_deposit_max'],
      'is missing, so the card is shown for balances and transfers of any amount',
    );
  }
}
