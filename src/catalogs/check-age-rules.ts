import { getChoiceValues } from '../domain/field-vector.ts';
import { getContractAge } from '../domain/us-states.ts';
import type { Vertical } from '../domain/vertical.ts';
import type { CatalogErrors, CatalogValuePath } from './catalog-errors.ts';
import type { CatalogOffer } from './catalog-schema.ts';

/**
 * Reports criteria of a credit offer that treat applicants by age beyond their capacity to contract, which the Equal Credit Opportunity Act
 * forbids (15 U.S.C. 1691(a)(1), 12 CFR 1002.6(b)(2)). A minimum age above the age of capacity in a state in which the offer is shown is an
 * error; criteria that exclude retired people cause a warning.
 */
export function checkAgeCriteria(
  { criteria }: Pick<CatalogOffer, 'criteria'>,
  path: CatalogValuePath,
  vertical: Vertical,
  errors: CatalogErrors,
): void {
  const allowed = findLowestContractAge(criteria, vertical);
  for (const [index, criterion] of criteria.entries()) {
    const criterionPath = [...path, 'criteria', index];
    if (criterion.min_age !== undefined && allowed !== null && criterion.min_age > allowed.age) {
      errors.addUnlessStored([...criterionPath, 'min_age'], describeHighestAge(allowed.age, allowed.state));
    }
    const field = vertical.fields.find(({ name }) => name === criterion.field);
    const hasRetired = field?.kind === 'choice' && field.values.includes(retired);
    if (hasRetired && (criterion.in?.includes(retired) === false || criterion.not_in?.includes(retired))) {
      errors.addWarning(
        criterionPath,
        'excludes retired people; creditors must count retirement income (12 CFR 1002.6(b)(5))',
      );
    }
  }
}

const retired = 'retired';

/** Reports minimum ages in the `state_rules` of a catalog that are above the age of capacity in their state. Ignores schema errors. */
export function checkAgesOfStateRules(rules: unknown, errors: CatalogErrors): void {
  if (typeof rules !== 'object' || rules === null || Array.isArray(rules)) return;
  for (const [state, rule] of Object.entries(rules)) {
    const age = getContractAge(state);
    if (age === null || typeof rule?.min_age !== 'number' || rule.min_age <= age) continue;
    errors.addUnlessStored(['state_rules', state, 'min_age'], describeHighestAge(age, state));
  }
}

/** Finds the lowest age of capacity in the US states in which an offer is shown. Returns null if the offer is shown in no US state. */
function findLowestContractAge(
  criteria: CatalogOffer['criteria'],
  vertical: Vertical,
): { readonly age: number; readonly state: string } | null {
  const { state: field } = vertical.roles;
  let lowest: { age: number; state: string } | null = null;
  for (const state of getChoiceValues(vertical, field)) {
    const age = getContractAge(state);
    const isShown = criteria.every(
      (each) => each.field !== field || (each.in?.includes(state) !== false && !each.not_in?.includes(state)),
    );
    if (age !== null && isShown && (lowest === null || age < lowest.age)) lowest = { age, state };
  }
  return lowest;
}

function describeHighestAge(age: number, state: string): string {
  return `must be at most ${age}, the age of capacity to contract in ${state}; credit must not depend on age otherwise (15 U.S.C. 1691)`;
}
