import Type from 'typebox';
import { bounds } from '../bounds.ts';
import { widgetEventTypes } from '../events/ledger-record.ts';
import { offerIdPattern } from '../offers/offer-id.ts';
import { type WidgetBeaconBody, widgetEventIdPattern } from '../widgets/parse-widget-beacon.ts';
import { schemaFor } from './describes.ts';
import { nullable, widgetLoadIdSchema, stringEnum } from './schema-parts.ts';

export const widgetBeaconSchema = schemaFor<WidgetBeaconBody>()(
  Type.Object(
    {
      load: widgetLoadIdSchema,
      events: Type.Array(
        Type.Object({
          event_id: Type.String({
            pattern: widgetEventIdPattern,
            description: 'One that the session had before is not counted again.',
          }),
          type: stringEnum(widgetEventTypes, { description: 'What happened.' }),
          svc_offer_id: Type.Optional(
            nullable(
              Type.String({
                pattern: offerIdPattern,
                description: 'The offer it is about: of types that begin with `offer_`, and of no others.',
              }),
            ),
          ),
        }),
        { minItems: 1, maxItems: bounds.widgetEventsPerBatchMax },
      ),
    },
    { title: 'WidgetBeacon' },
  ),
);
