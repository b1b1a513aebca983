import Type from 'typebox';
import { bounds } from '../bounds.ts';
import type { SessionBody, SessionView } from '../operations/create-session.ts';
import { schemaFor } from './describes.ts';
import { ignoredProperty, referrerTagSchema, subIdSchema, timestampSchema } from './schema-parts.ts';

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
