import Type, { type TSchema } from 'typebox';
import { bounds } from '../bounds.ts';
import type { InputsView } from '../operations/submit-inputs.ts';
import type { PocketField, Vertical } from '../verticals/vertical.ts';
import { describes } from './describes.ts';
import { ignored, nullable, subId, words } from './schema-parts.ts';

const names = (description: string) => Type.Array(Type.String(), { description });

export const inputs = describes<InputsView>()(
  Type.Object(
    {
      sub_id: subId,
      fields_accepted: names('The pocket fields of this call, in its order; those it cleared too.'),
      fields_unknown: names('Names of this call that are no pocket fields, and were passed over.'),
      match_readiness: words(['high', 'partial', 'insufficient'], {
        description:
          '`insufficient` while a required field is missing, `partial` while only a conditional one is, `high` otherwise.',
      }),
      missing_required: names('Fields without which there are no offers.'),
      missing_conditional: names(
        'Fields that the values given so far call for. Lenders who need one are left out without it.',
      ),
      ...ignored,
    },
    { title: 'Inputs' },
  ),
);

/** The body of POST /inputs, which differs from vertical to vertical by its fields alone (docs/contract.md#verticals). */
export function inputsRequest(vertical: Vertical): TSchema {
  return Type.Object({ sub_id: subId, fields: pocketFields(vertical) }, { title: 'InputsRequest' });
}

function pocketFields(vertical: Vertical): TSchema {
  const fields = vertical.fields.map((field) => [field.name, Type.Optional(pocketField(vertical, field))] as const);
  return Type.Object(Object.fromEntries(fields), {
    title: 'PocketFields',
    maxProperties: bounds.fieldNamesMax,
    propertyNames: { maxLength: bounds.fieldNameCharactersMax },
    description:
      'What the visitor has told so far, or now. Submissions merge; `null` clears a field; one invalid value refuses the whole call. Other names are passed over.',
  });
}

function pocketField(vertical: Vertical, field: PocketField): TSchema {
  const description = [field.description, classOf(vertical, field)].filter((text) => text !== undefined).join(' ');
  return nullable(valuesOf(field, description));
}

/** What a field may hold (docs/contract.md#field-values). The choices of a field that may be null include null, as JSON Schema wants it. */
function valuesOf(field: PocketField, description: string): TSchema {
  switch (field.kind) {
    case 'integer':
      return Type.Integer({ minimum: field.min, maximum: field.max, description });
    case 'choice':
      return Type.Unsafe({ type: 'string', enum: [...field.values, null], description });
    case 'integer_choice':
      return Type.Unsafe({ type: 'integer', enum: [...field.values, null], description });
    case 'boolean':
      return Type.Boolean({ description });
    case 'birthdate': {
      const ages = `\`YYYY-MM-DD\`, of somebody aged ${field.minAgeYears} to ${field.maxAgeYears}.`;
      return Type.String({ format: 'date', description: `${description} ${ages}` });
    }
    case 'digits':
      return Type.String({
        pattern: `^[0-9]{${field.length}}$`,
        description: `${description} ${field.length} digits.`,
      });
  }
}

/** Whether offers need it, always or in some cases (docs/contract.md#match-readiness). */
function classOf({ required, conditional, neverMatched = [] }: Vertical, { name }: PocketField): string {
  if (required.includes(name)) return 'Required for offers.';
  const cases = conditional
    .filter(({ field }) => field === name)
    .map(({ when }) => `\`${when.field}\` is \`${when.is}\``);
  if (cases.length > 0) return `Called for when ${cases.join(' or ')}.`;
  return neverMatched.includes(name) ? 'Optional; plays no part in matching.' : 'Optional.';
}
