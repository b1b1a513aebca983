import Type, { type TSchema } from 'typebox';
import { bounds } from '../bounds.ts';
import { nullableSchema } from '../domain/nullable-schema.ts';
import type { PocketField, Vertical } from '../domain/vertical.ts';

/** Returns the schema of `fields` in the request body of `POST /inputs` for a vertical (docs/contract.md#verticals). */
export function pocketFieldsSchema(vertical: Vertical): TSchema {
  const fields = vertical.fields.map((field) => {
    const requirement = describeRequirement(vertical, field);
    const description = field.description === undefined ? requirement : `${field.description} ${requirement}`;
    return [field.name, Type.Optional(nullableSchema(fieldValueSchema(field, description)))] as const;
  });
  return Type.Object(Object.fromEntries(fields), {
    title: 'PocketFields',
    maxProperties: bounds.fieldsMax,
    propertyNames: { maxLength: bounds.fieldNameCharactersMax },
    description: 'Calls are merged; `null` clears a field; one invalid value refuses the whole call.',
  });
}

/** Returns the schema of a field's values except null, which every field allows (docs/contract.md#field-values). */
function fieldValueSchema(field: PocketField, description: string): TSchema {
  switch (field.kind) {
    case 'integer':
      return Type.Integer({ minimum: field.min, maximum: field.max, description });
    case 'choice':
      return Type.Unsafe({ type: 'string', enum: field.values, description });
    case 'integer_choice':
      return Type.Unsafe({ type: 'integer', enum: field.values, description });
    case 'boolean':
      return Type.Boolean({ description });
    case 'birthdate': {
      const ages = `\`YYYY-MM-DD\`, for an age of ${field.minAgeYears} to ${field.maxAgeYears}.`;
      return Type.String({ format: 'date', description: `${description} ${ages}` });
    }
    case 'digits':
      return Type.String({
        pattern: `^[0-9]{${field.length}}$`,
        description: `${description} ${field.length} digits.`,
      });
  }
}

function describeRequirement({ required, conditional, neverMatched = [] }: Vertical, { name }: PocketField): string {
  if (required.includes(name)) return 'Required for offers.';
  const rules = conditional.filter(({ field }) => field === name);
  if (rules.length > 0) {
    const cases = rules.map(({ when }) => `\`${when.field}\` is \`${when.is}\``).join(' or ');
    const isRequired = rules.some((rule) => rule.isRequired);
    return isRequired ? `Required for offers if ${cases}.` : `Required by some offers if ${cases}.`;
  }
  return neverMatched.includes(name) ? 'Optional; not used for matching.' : 'Optional.';
}
