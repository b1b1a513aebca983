import { absentValue, type FieldVector, fieldIndex } from './field-vector.ts';
import type { Vertical } from './vertical.ts';

/** Likelihood that the fields submitted so far return offers (docs/contract.md#match-readiness). */
export interface Readiness {
  readonly matchReadiness: 'high' | 'partial' | 'insufficient';
  readonly missingRequired: readonly string[];
  readonly missingConditional: readonly string[];
}

interface ReadinessRule {
  readonly required: readonly { readonly name: string; readonly position: number }[];
  readonly conditional: readonly {
    readonly name: string;
    readonly position: number;
    readonly whenPosition: number;
    readonly whenValue: number;
  }[];
}

export function computeReadiness(vertical: Vertical, fields: Readonly<FieldVector>): Readiness {
  const rule = readinessRuleFor(vertical);
  const missingRequired: string[] = [];
  for (const { name, position } of rule.required) {
    if (fields[position] === absentValue) missingRequired.push(name);
  }
  const missingConditional: string[] = [];
  for (const { name, position, whenPosition, whenValue } of rule.conditional) {
    if (fields[whenPosition] === whenValue && fields[position] === absentValue) missingConditional.push(name);
  }
  const matchReadiness =
    missingRequired.length > 0 ? 'insufficient' : missingConditional.length > 0 ? 'partial' : 'high';
  return { matchReadiness, missingRequired, missingConditional };
}

const rulesByVertical = new WeakMap<Vertical, ReadinessRule>();

function readinessRuleFor(vertical: Vertical): ReadinessRule {
  let rule = rulesByVertical.get(vertical);
  if (rule === undefined) {
    rule = {
      required: vertical.required.map((name) => ({ name, position: requiredFieldIndex(vertical, name) })),
      conditional: vertical.conditional.map(({ field, when }) => ({
        name: field,
        position: requiredFieldIndex(vertical, field),
        whenPosition: requiredFieldIndex(vertical, when.field),
        whenValue: choiceIndex(vertical, when.field, when.is),
      })),
    };
    rulesByVertical.set(vertical, rule);
  }
  return rule;
}

function requiredFieldIndex(vertical: Vertical, name: string): number {
  const index = fieldIndex(vertical, name);
  if (index < 0) throw new Error(`vertical ${vertical.segment} names ${name}, which is not one of its fields`);
  return index;
}

function choiceIndex(vertical: Vertical, name: string, value: string): number {
  const field = vertical.fields[requiredFieldIndex(vertical, name)]!;
  const index = field.kind === 'choice' ? field.values.indexOf(value) : -1;
  if (index < 0) throw new Error(`vertical ${vertical.segment}: ${name} has no choice ${value}`);
  return index;
}
