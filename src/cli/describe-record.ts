import { jsonText, plainText } from '../domain/plain-text.ts';
import { deviceClasses, recordKind, recordTimeMs, widgetEventTypes, widgetIdBytes } from '../events/ledger-record.ts';
import { subIdBytes, subIdText } from '../sessions/sub-id.ts';

/** A record as names and values of JSON, or why it cannot be shown as one. */
export type RecordDescription = Readonly<Record<string, unknown>>;

/** How each kind is called, and what stands in its records behind kind, time and sub_id. */
const kinds: { readonly [Kind in keyof typeof recordKind]: readonly [name: string, members: readonly string[]] } = {
  sessionCreated: ['session_created', ['referrer_tag', 'key_number', 'device', 'metadata']],
  offersViewed: ['offers_viewed', ['catalog_version', 'offer_ids', 'load', 'again']],
  offerClicked: ['offer_clicked', ['catalog_version', 'offer_id', 'lender_name', 'value_micros', 'within_daily_cap']],
  revenueConfirmed: [
    'revenue_confirmed',
    ['offer_id', 'lender_name', 'txid', 'amount_micros', 'occurred_ms', 'clicked_ms', 'click_value_micros'],
  ],
  revenueReversed: ['revenue_reversed', ['offer_id', 'lender_name', 'txid', 'amount_micros', 'occurred_ms']],
  widgetReported: ['widget_reported', ['load', 'event_ids', 'types', 'offer_ids']],
};

/** Absent from the records they do not concern. */
const optionalMembers = new Set(['within_daily_cap', 'load', 'again']);

const kindsByNumber = new Map<unknown, (typeof kinds)[keyof typeof kinds]>(
  Object.entries(recordKind).map(([kind, number]) => [number, kinds[kind as keyof typeof kinds]]),
);

/** Members whose values have names of their own, or come in pieces. Whatever is none of what it should be is shown as it is. */
const tellers: Readonly<Record<string, (value: unknown) => unknown>> = {
  device: (value) => nameOf(deviceClasses, value),
  types: (value) => (Array.isArray(value) ? value.map((type) => nameOf(widgetEventTypes, type)) : shown(value)),
  event_ids(value) {
    if (!(value instanceof Uint8Array) || value.length % widgetIdBytes !== 0) return shown(value);
    const ids = Array.from({ length: value.length / widgetIdBytes }, (_, at) => at * widgetIdBytes);
    return ids.map((at) => shown(value.subarray(at, at + widgetIdBytes)));
  },
};

/**
 * Names the members of a decoded record of the ledger. The file is not trusted: members that are not what they should be
 * are shown as they are, and a record of no known kind as a row of members.
 */
export function describeRecord(record: readonly unknown[]): RecordDescription {
  const [number, time, sub, ...values] = record;
  const kind = kindsByNumber.get(number);
  if (kind === undefined) return { kind: shown(number), members: record.slice(1).map(shown) };
  const [name, members] = kind;
  const ms = recordTimeMs(record);
  const description: Record<string, unknown> = {
    kind: name,
    at: ms === null ? shown(time) : new Date(ms).toISOString(),
    sub_id: sub instanceof Uint8Array && sub.length === subIdBytes ? subIdText(sub) : shown(sub),
  };
  for (const [index, member] of members.entries()) {
    if (index >= values.length && optionalMembers.has(member)) continue;
    description[member] = (tellers[member] ?? shown)(values[index]);
  }
  if (values.length > members.length) description.more = values.slice(members.length).map(shown);
  return description;
}

/** A described record on one line: as a JSON object, or for people. Control characters are escaped in either. */
export function recordLine(position: number, description: RecordDescription, asJson: boolean): string {
  if (asJson) return jsonText({ position, ...description });
  const { kind, at, sub_id: subId, ...members } = description;
  const head = [kind, at, subId].filter((value) => value !== undefined).map((value) => plainText(value));
  const named = Object.entries(members).map(([name, value]) => `${name}=${jsonText(value)}`);
  return [position, ...head, ...named].join('  ');
}

function nameOf(names: readonly string[], value: unknown): unknown {
  return (typeof value === 'number' ? names[value] : undefined) ?? shown(value);
}

/** A value as JSON can tell it: bytes as hex digits. */
function shown(value: unknown): unknown {
  if (value instanceof Uint8Array) return Buffer.from(value).toString('hex');
  return Array.isArray(value) ? value.map(shown) : (value ?? null);
}
