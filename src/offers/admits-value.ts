import type { PocketField, Vertical } from '../verticals/vertical.ts';
import type { CatalogCriterion, CatalogOffer } from './catalog-schema.ts';
import { servedScoreShare } from './credit-minimum.ts';

/**
 * Whether an offer can be made to borrowers with this value of a field of few values; `undefined` is one who has not told it.
 * A criterion on a field that was not told is not met, whatever it asks for (docs/contract.md#eligibility).
 */
export function admitsValue(offer: CatalogOffer, field: PocketField, value: unknown, vertical: Vertical): boolean {
  const { creditBand, coBorrower } = vertical.roles;
  if (field.name === creditBand && value !== undefined && !servesBand(offer, value as string, field, vertical))
    return false;
  if (field.name === coBorrower && !acceptsCoBorrower(offer, value)) return false;
  return offer.criteria.every(
    (criterion) => criterion.field !== field.name || (value !== undefined && criterionIncludes(criterion, value)),
  );
}

function servesBand(offer: CatalogOffer, band: string, field: PocketField, vertical: Vertical): boolean {
  if (offer.bands[band] === undefined || field.kind !== 'choice') return false;
  return servedScoreShare(offer, vertical, field.values.indexOf(band)) > 0;
}

/** Without a value the borrower applies alone: only `true` unlocks a joint offer or closes a single one (docs/contract.md#eligibility). */
function acceptsCoBorrower({ joint_applications }: CatalogOffer, value: unknown): boolean {
  if (joint_applications === 'required') return value === true;
  return joint_applications !== 'not_accepted' || value !== true;
}

function criterionIncludes(criterion: CatalogCriterion, value: unknown): boolean {
  return (criterion.in?.includes(value) ?? true) && !(criterion.not_in?.includes(value) ?? false);
}
