import { enumValues } from '../verticals/choice-values.ts';
import type { PocketField, Vertical } from '../verticals/vertical.ts';
import type { CatalogErrors, CatalogPath } from './catalog-faults.ts';
import type { CatalogCriterion } from './catalog-schema.ts';

/** What is wrong with one criterion of an offer. */
export function checkCriterion(
  criterion: CatalogCriterion,
  path: CatalogPath,
  vertical: Vertical,
  faults: CatalogErrors,
): void {
  const field = vertical.fields.find(({ name }) => name === criterion.field);
  const fieldProblem = criterionFieldProblem(field, vertical);
  if (field === undefined || fieldProblem !== null) {
    faults.add([...path, 'field'], fieldProblem!);
    return;
  }
  const allowed = allowedConditions(field);
  const given = Object.keys(criterion).filter((member) => member !== 'field');
  if (given.length === 0) faults.add(path, `must hold one of ${allowed.join(', ')}`);
  for (const member of given) {
    if (!allowed.includes(member)) {
      faults.add([...path, member], `does not suit ${field.name}, which takes ${allowed.join(', ')}`);
    }
  }
  for (const member of ['in', 'not_in'] as const) {
    if (!allowed.includes(member)) continue;
    const values = enumValues(field);
    for (const [at, value] of (criterion[member] ?? []).entries()) {
      if (!values.includes(value)) faults.add([...path, member, at], `is not a value of ${field.name}`);
    }
  }
  if (criterion.min !== undefined && criterion.max !== undefined && criterion.min > criterion.max) {
    faults.add(path, 'min must not exceed max');
  }
}

function criterionFieldProblem(field: PocketField | undefined, vertical: Vertical): string | null {
  if (field === undefined) return 'is not a pocket field of this vertical';
  if (vertical.neverMatched?.includes(field.name)) return 'names a field that may not enter matching';
  return allowedConditions(field).length === 0 ? 'names a field that cannot be a criterion' : null;
}

/** The conditions a criterion may put on a field. Ages have no maximum: nobody is refused for being old. */
function allowedConditions(field: PocketField): readonly string[] {
  switch (field.kind) {
    case 'choice':
    case 'integer_choice':
    case 'boolean':
      return ['in', 'not_in'];
    case 'integer':
      return ['min', 'max'];
    case 'birthdate':
      return ['min_age'];
    case 'digits':
      return [];
  }
}
