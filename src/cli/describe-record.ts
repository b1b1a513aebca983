import { escapedJson, displayText } from '../domain/plain-text.ts';
import { deviceClasses, ledgerRecordKind, recordTimeMs, widgetEventTypes, widgetIdBytes } from '../events/ledger-record.ts';
import { subIdByteLength, formatSubId } from '../sessions/sub-id.ts';

/** A record as names and values of JSON, or why it cannot be shown as one. */
export type RecordDescription = Readonly<Record<string, unknown>>;

/** How each kind is called, and what stands in its records behind kind, time and sub_id. */
const recordLayouts: { readonly [Kind in keyof typeof ledgerRecordKind]: readonly [name: string, members: readonly string[]] } = {
  sessionCreated: ['session_created', ['referrer_tag', 'key_number', 'device', 'metadata']],
  offersViewed: ['offers_viewed', ['catalog_version', 'offer_ids', 'load', 'again']],
  offerClicked: ['offer_clicked', ['catalog_version', 'offer_id', 'lender_name', 'value_micros', 'within_daily_cap']],
  revenueConfirmed: [
    'revenue_confirmed',
    ['offer_id', 'lender_name', 'txid', 'amount_micros', 'occurred_ms', 'clicked_ms', 'click_value_micros'],
  ],
  revenueReversed: ['revenue_reversed', ['offer_id', 'lender_name', 'txid', 'amount_micros', 'occurred_ms']],
  widgetEventsReported: ['widget_reported', ['load', 'event_ids', 'types', 'offer_ids']],
};

/** Absent from the records they do not concern. */
const optionalMembers = new Set(['within_daily_cap', 'load', 'again']);

const layoutsByKind = new Map<unknown, (typeof recordLayouts)[keyof typeof recordLayouts]>(
  Object.entries(ledgerRecordKind).map(([kind, number]) => [number, recordLayouts[kind as keyof typeof recordLayouts]]),
);

/** Members whose values have names of their own, or come in pieces. Whatever is none of what it should be is shown as it is. */
const memberFormatters: Readonly<Record<string, (value: unknown) => unknown>> = {
  device: (value) => nameOrValue(deviceClasses, value),
  types: (value) => (Array.isArray(value) ? value.map((type) => nameOrValue(widgetEventTypes, type)) : toJsonValue(value)),
  event_ids(value) {
    if (!(value instanceof Uint8Array) || value.length % widgetIdBytes !== 0) return toJsonValue(value);
    const ids = Array.from({ length: value.length / widgetIdBytes }, (_, at) => at * widgetIdBytes);
    return ids.map((at) => toJsonValue(value.subarray(at, at + widgetIdBytes)));
  },
};

/**
 * Names the members of a decoded record of the ledger. The file is not trusted: members that are not what they should be
 * are shown as they are, and a record of no known kind as a row of members.
 */
export function describeRecord(record: readonly unknown[]): RecordDescription {
  const [number, time, sub, ...values] = record;
  const kind = layoutsByKind.get(number);
  if (kind === undefined) return { kind: toJsonValue(number), members: record.slice(1).map(toJsonValue) };
  const [name, members] = kind;
  const ms = recordTimeMs(record);
  const description: Record<string, unknown> = {
    kind: name,
    at: ms === null ? toJsonValue(time) : new Date(ms).toISOString(),
    sub_id: sub instanceof Uint8Array && sub.length === subIdByteLength ? formatSubId(sub) : toJsonValue(sub),
  };
  for (const [index, member] of members.entries()) {
    if (index >= values.length && optionalMembers.has(member)) continue;
    description[member] = (memberFormatters[member] ?? toJsonValue)(values[index]);
  }
  if (values.length > members.length) description.more = values.slice(members.length).map(toJsonValue);
  return description;
}

/** A described record on one line: as a JSON object, or for people. Control characters are escaped in either. */
export function formatRecordLine(position: number, description: RecordDescription, asJson: boolean): string {
  if (asJson) return escapedJson({ position, ...description });
  const { kind, at, sub_id: subId, ...members } = description;
  const head = [kind, at, subId].filter((value) => value !== undefined).map((value) => displayText(value));
  const named = Object.entries(members).map(([name, value]) => `${name}=${escapedJson(value)}`);
  return [position, ...head, ...named].join('  ');
}

function nameOrValue(names: readonly string[], value: unknown): unknown {
  return (typeof value === 'number' ? names[value] : undefined) ?? toJsonValue(value);
}

/** A value as JSON can tell it: bytes as hex digits. */
function toJsonValue(value: unknown): unknown {
  if (value instanceof Uint8Array) return Buffer.from(value).toString('hex');
  return Array.isArray(value) ? value.map(toJsonValue) : (value ?? null);
}
