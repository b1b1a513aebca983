import Type, { type TSchema } from 'typebox';
import { bounds } from '../bounds.ts';
import type { CreateSessionBody, SessionResponse } from '../operations/create-session.ts';
import type { InputsResponse } from '../operations/submit-inputs.ts';
import { nullableSchema } from '../verticals/nullable-schema.ts';
import type { PocketField, Vertical } from '../verticals/vertical.ts';
import {
  defineSchema,
  ignoredParametersProperty,
  referrerTagSchema,
  stringEnum,
  subIdSchema,
  timestampSchema,
} from './schema-parts.ts';

const metadataCharactersMax = bounds.metadataCharactersMax;

export const sessionRequestSchema = defineSchema<CreateSessionBody>()(
  Type.Object(
    {
      referrer_tag: referrerTagSchema,
      user_agent: Type.Optional(
        Type.String({
          maxLength: bounds.userAgentCharactersMax,
          description: "The visitor's user agent. The `User-Agent` header is not used.",
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
              'Your own data, without personal data, which analytics rows return. An integer beyond 2^53 - 1 gets 400: send a string.',
          },
        ),
      ),
    },
    { title: 'SessionRequest' },
  ),
);

export const sessionSchema = defineSchema<SessionResponse>()(
  Type.Object(
    {
      sub_id: subIdSchema,
      referrer_tag: referrerTagSchema,
      created_at: timestampSchema('When the session was created'),
      expires_at: timestampSchema('When the session expires, four hours later'),
      sandbox: Type.Boolean({ description: 'Whether a test key created it.' }),
      ...ignoredParametersProperty,
    },
    { title: 'Session' },
  ),
);

const nameListSchema = (description: string) => Type.Array(Type.String(), { description });

export const submitInputsResponseSchema = defineSchema<InputsResponse>()(
  Type.Object(
    {
      sub_id: subIdSchema,
      fields_accepted: nameListSchema('Accepted pocket fields of this call, in its order.'),
      fields_unknown: nameListSchema('Unknown names of this call, which were ignored.'),
      match_readiness: stringEnum(['high', 'partial', 'insufficient'], {
        description: '`insufficient` without a required field, `partial` without a conditional one, or `high`.',
      }),
      missing_required: nameListSchema('Missing fields that offers require.'),
      missing_conditional: nameListSchema('Missing fields that the submitted values make relevant.'),
      ...ignoredParametersProperty,
    },
    { title: 'Inputs' },
  ),
);

/** Returns the schema of the request body of `POST /inputs` for a vertical (docs/contract.md#verticals). */
export function submitInputsRequestSchema(vertical: Vertical): TSchema {
  return Type.Object({ sub_id: subIdSchema, fields: pocketFieldsSchema(vertical) }, { title: 'InputsRequest' });
}

function pocketFieldsSchema(vertical: Vertical): TSchema {
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
