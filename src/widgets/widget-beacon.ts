import { hash } from 'node:crypto';
import { bounds } from '../bounds.ts';
import { offerIdPattern } from '../catalogs/catalog-schema.ts';
import { invalidRequest, type Outcome } from '../domain/outcome.ts';
import { widgetEventTypes, widgetIdLength } from '../ledger/ledger-record.ts';

export const widgetLoadIdPattern = '^[0-9a-f]{16}$';

const loadIdRegex = new RegExp(widgetLoadIdPattern);

/** Parses the ID of a widget load, which has 16 lower-case hex digits. Returns the 8 bytes of the ID, or null for an invalid ID. */
export function parseWidgetLoadId(text: unknown): Buffer | null {
  return typeof text === 'string' && loadIdRegex.test(text) ? Buffer.from(text, 'hex') : null;
}

const offerIdRegex = new RegExp(offerIdPattern);

export const widgetEventIdPattern = `^[\\w-]{1,${bounds.widgetEventIdCharactersMax}}$`;

const eventIdRegex = new RegExp(widgetEventIdPattern);

export interface WidgetEvent {
  /** Truncated SHA-256 hash of the event ID, which identifies repeated events. */
  readonly digest: Buffer;
  /** Index of the event type in `widgetEventTypes`. */
  readonly type: number;
  /** ID of the offer that the event concerns; null for an event without an offer. */
  readonly offerId: string | null;
}

/** Events of one widget load that the widget script sent in one request. */
export interface WidgetBeacon {
  readonly load: Buffer;
  readonly events: readonly WidgetEvent[];
}

/**
 * Parses the request body of a beacon (docs/contract.md#widget-events). Rejects the whole batch if one event is invalid, because only the
 * widget script sends batches, and recording the valid events would hide bugs of the script.
 */
export function parseWidgetBeacon(body: unknown): Outcome<WidgetBeacon> {
  if (typeof body !== 'object' || body === null || Array.isArray(body)) return invalidRequest('body');
  const { load: loadText, events: list } = body as { readonly load?: unknown; readonly events?: unknown };
  const load = parseWidgetLoadId(loadText);
  if (load === null) return invalidRequest('load');
  if (!Array.isArray(list) || list.length === 0 || list.length > bounds.widgetEventsPerBatchMax) {
    return invalidRequest('events');
  }
  const events: WidgetEvent[] = [];
  for (const item of list) {
    const event = parseWidgetEvent(item);
    if (event === null) return invalidRequest('events');
    events.push(event);
  }
  return { ok: true, value: { load, events } };
}

function parseWidgetEvent(item: unknown): WidgetEvent | null {
  if (typeof item !== 'object' || item === null) return null;
  const { event_id: id, type: name, svc_offer_id: offer } = item as Readonly<Record<string, unknown>>;
  if (typeof id !== 'string' || !eventIdRegex.test(id)) return null;
  const type = (widgetEventTypes as readonly unknown[]).indexOf(name);
  if (type < 0) return null;
  const isAboutOffer = widgetEventTypes[type]!.startsWith('offer_');
  if (isAboutOffer ? !isOfferId(offer) : offer !== undefined && offer !== null) return null;
  const digest = Buffer.from(hash('sha256', id, 'buffer').subarray(0, widgetIdLength));
  return { digest, type, offerId: isAboutOffer ? (offer as string) : null };
}

function isOfferId(value: unknown): boolean {
  return typeof value === 'string' && offerIdRegex.test(value);
}
