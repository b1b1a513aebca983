import Type, { type TSchema } from 'typebox';
import { bounds } from '../bounds.ts';
import type { SessionBody, SessionView } from '../operations/create-session.ts';
import type { InputsView } from '../operations/submit-inputs.ts';
import type { PocketField, Vertical } from '../verticals/vertical.ts';
import {
  ignoredProperty,
  nullable,
  referrerTagSchema,
  schemaFor,
  stringEnum,
  subIdSchema,
  timestampSchema,
} from './schema-parts.ts';

const metadataCharactersMax = bounds.metadataCharactersMax;

export const sessionRequestSchema = schemaFor<SessionBody>()(
  Type.Object(
    {
      referrer_tag: referrerTagSchema,
      user_agent: Type.Optional(
        Type.String({
          maxLength: bounds.userAgentCharactersMax,
          description:
            "The visitor's user agent, for figures by device. Nothing is inferred from the header of the call itself, which is that of your server.",
        }),
      ),
      metadata: Type.Optional(
        Type.Object(
          {},
          {
            maxProperties: bounds.metadataKeysMax,
            propertyNames: { maxLength: metadataCharactersMax },
            additionalProperties: Type.Union([
              Type.String({ maxLength: metadataCharactersMax }),
              Type.Number(),
              Type.Boolean(),
              Type.Null(),
            ]),
            description:
              'What you want to find again in analytics by session. It must hold nothing personal: no name, no address, nothing that tells who the visitor is.',
          },
        ),
      ),
    },
    { title: 'SessionRequest' },
  ),
);

export const sessionSchema = schemaFor<SessionView>()(
  Type.Object(
    {
      sub_id: subIdSchema,
      referrer_tag: referrerTagSchema,
      created_at: timestampSchema('When it was created'),
      expires_at: timestampSchema('When it ends, four hours later. Offers and inputs are refused from then on'),
      sandbox: Type.Boolean({ description: 'Whether it was created with a test key: sandbox offers, no revenue.' }),
      ...ignoredProperty,
    },
    { title: 'Session' },
  ),
);

const nameListSchema = (description: string) => Type.Array(Type.String(), { description });

export const inputsSchema = schemaFor<InputsView>()(
  Type.Object(
    {
      sub_id: subIdSchema,
      fields_accepted: nameListSchema('The pocket fields of this call, in its order; those it cleared too.'),
      fields_unknown: nameListSchema('Names of this call that are no pocket fields, and were passed over.'),
      match_readiness: stringEnum(['high', 'partial', 'insufficient'], {
        description:
          '`insufficient` while a required field is missing, `partial` while only a conditional one is, `high` otherwise.',
      }),
      missing_required: nameListSchema('Fields without which there are no offers.'),
      missing_conditional: nameListSchema(
        'Fields that the values given so far call for. Lenders who need one are left out without it.',
      ),
      ...ignoredProperty,
    },
    { title: 'Inputs' },
  ),
);

/** The body of POST /inputs, which differs from vertical to vertical by its fields alone (docs/contract.md#verticals). */
export function inputsRequestSchema(vertical: Vertical): TSchema {
  return Type.Object({ sub_id: subIdSchema, fields: pocketFieldsSchema(vertical) }, { title: 'InputsRequest' });
}

function pocketFieldsSchema(vertical: Vertical): TSchema {
  const fields = vertical.fields.map(
    (field) => [field.name, Type.Optional(pocketFieldSchema(vertical, field))] as const,
  );
  return Type.Object(Object.fromEntries(fields), {
    title: 'PocketFields',
    maxProperties: bounds.fieldsMax,
    propertyNames: { maxLength: bounds.fieldNameCharactersMax },
    description:
      'What the visitor has told so far, or now. Submissions merge; `null` clears a field; one invalid value refuses the whole call. Other names are passed over.',
  });
}

function pocketFieldSchema(vertical: Vertical, field: PocketField): TSchema {
  const description = [field.description, describeRequirement(vertical, field)]
    .filter((text) => text !== undefined)
    .join(' ');
  return nullable(fieldValueSchema(field, description));
}

/** What a field may hold (docs/contract.md#field-values). The choices of a field that may be null include null, as JSON Schema wants it. */
function fieldValueSchema(field: PocketField, description: string): TSchema {
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
function describeRequirement({ required, conditional, neverMatched = [] }: Vertical, { name }: PocketField): string {
  if (required.includes(name)) return 'Required for offers.';
  const cases = conditional
    .filter(({ field }) => field === name)
    .map(({ when }) => `\`${when.field}\` is \`${when.is}\``);
  if (cases.length > 0) return `Called for when ${cases.join(' or ')}.`;
  return neverMatched.includes(name) ? 'Optional; plays no part in matching.' : 'Optional.';
}
