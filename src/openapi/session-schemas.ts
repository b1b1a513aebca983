import Type from 'typebox';
import { bounds } from '../bounds.ts';
import type { SessionBody, SessionView } from '../operations/create-session.ts';
import { describes } from './describes.ts';
import { ignored, referrerTag, subId, timestamp } from './schema-parts.ts';

const characters = bounds.metadataCharactersMax;

export const sessionRequest = describes<SessionBody>()(
  Type.Object(
    {
      referrer_tag: referrerTag,
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
            propertyNames: { maxLength: characters },
            additionalProperties: Type.Union([
              Type.String({ maxLength: characters }),
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

export const session = describes<SessionView>()(
  Type.Object(
    {
      sub_id: subId,
      referrer_tag: referrerTag,
      created_at: timestamp('When it was created'),
      expires_at: timestamp('When it ends, four hours later. Offers and inputs are refused from then on'),
      sandbox: Type.Boolean({ description: 'Whether it was created with a test key: sandbox offers, no revenue.' }),
      ...ignored,
    },
    { title: 'Session' },
  ),
);
