import { daysSinceEpoch } from '../../src/domain/calendar.ts';
import type { ApiKeyMode } from '../../src/domain/mode.ts';
import type { ExperimentDefinition } from '../../src/experiments/experiment.ts';
import { subIdByteLength } from '../../src/ids/sub-id.ts';
import type {
  DeviceClass,
  ExperimentClosedRecord,
  ExperimentDefinedRecord,
  ExperimentDeletedRecord,
  OfferClickedRecord,
  OffersViewedRecord,
  RevenueConfirmedRecord,
  RevenueReversedRecord,
  SessionCreatedRecord,
  WidgetEventsReportedRecord,
  WidgetEventType,
} from '../../src/ledger/ledger-record.ts';
import { widgetEventTypes, widgetIdLength } from '../../src/ledger/ledger-record.ts';

/**
 * Returns the 32 bytes of a sub_id in the ledger, without a valid MAC, because the aggregator does not verify the MAC. Different serials
 * result in different ids.
 */
export function subIdBytes({
  createdMs,
  serial,
  account = 1,
  vertical = 1,
  mode = 'live',
}: {
  createdMs: number;
  serial: number;
  account?: number;
  vertical?: number;
  mode?: ApiKeyMode;
}): Buffer {
  const bytes = Buffer.alloc(subIdByteLength);
  bytes.writeUIntBE(createdMs, 0, 6);
  bytes.writeUInt32BE(account, 8);
  bytes[12] = (vertical << 1) | (mode === 'test' ? 1 : 0);
  bytes[13] = 1;
  bytes.writeUInt32BE(serial, 14);
  return bytes;
}

export function sessionCreatedRecord(
  sub: Buffer,
  {
    tag = 'tag-one',
    keyNumber = 1,
    device = 0,
    metadata = null as string | null,
    unit,
    isMisassigned,
  }: SessionOptions = {},
): SessionCreatedRecord {
  const record = [1, sub.readUIntBE(0, 6), sub, tag, keyNumber, device, metadata] as const;
  if (!unit) return record;
  const withUnit = [...record, undefined, undefined, unitHash(unit)] as const;
  return isMisassigned ? [...withUnit, true] : withUnit;
}

interface SessionOptions {
  readonly tag?: string;
  readonly keyNumber?: number;
  readonly device?: DeviceClass;
  readonly metadata?: string | null;
  readonly unit?: string | null;
  readonly isMisassigned?: boolean;
}

/** Returns 16 bytes that differ for different names of units. */
function unitHash(name: string): Buffer {
  const bytes = Buffer.alloc(16);
  bytes.write(name);
  return bytes;
}

/** Returns the record of a definition. `sub` contains the tenant and the time. */
export function experimentDefinedRecord(
  sub: Buffer,
  name: string,
  definition: Partial<ExperimentDefinition> = {},
): ExperimentDefinedRecord {
  const startsOn = daysSinceEpoch(sub.readUIntBE(0, 6));
  const complete = { ...sampleDefinition, startsOn, ...definition };
  return [7, sub.readUIntBE(0, 6), sub, name, 1, JSON.stringify(complete)];
}

/** Definition of an experiment with two arms and no optional member. */
export const sampleDefinition: Omit<ExperimentDefinition, 'startsOn'> = {
  arms: [
    { referrerTag: 'tag-one', weight: 0.5, label: null },
    { referrerTag: 'tag-two', weight: 0.5, label: null },
  ],
  control: 'tag-one',
  unit: 'session',
  assignment: 'own',
  endsOn: null,
  minEffectPercent: null,
  capMicros: null,
  hypothesis: null,
  dimensions: [],
  revenueDays: 45,
  graceDays: 7,
};

/** Returns the record that closes an experiment. */
export function experimentClosedRecord(sub: Buffer, name: string): ExperimentClosedRecord {
  const outcome = { outcome: 'no_decision', arm: null, note: null, results: {} };
  return [8, sub.readUIntBE(0, 6), sub, name, 1, JSON.stringify(outcome)];
}

/** Returns the record that hides an experiment. */
export function experimentDeletedRecord(sub: Buffer, name: string): ExperimentDeletedRecord {
  return [9, sub.readUIntBE(0, 6), sub, name, 1];
}

/** Returns the record of a view, by default one second after the creation of the session. */
export function offersViewedRecord(
  sub: Buffer,
  offerIds: readonly string[],
  wallMs = sub.readUIntBE(0, 6) + 1_000,
): OffersViewedRecord {
  return [2, wallMs, sub, 'catalog-1', offerIds];
}

/** Returns the record of a widget view, or of a refresh with `again`, by default two seconds after the session's creation. */
export function widgetViewedRecord(
  sub: Buffer,
  offerIds: readonly string[],
  { load = 1, again = false, wallMs = sub.readUIntBE(0, 6) + 2_000 } = {},
): OffersViewedRecord {
  return [...offersViewedRecord(sub, offerIds, wallMs), widgetId(load), again] as unknown as OffersViewedRecord;
}

/** Returns the record of widget events, by default three seconds after the session's creation. Types are names or numbers. */
export function widgetEventsRecord(
  sub: Buffer,
  types: readonly (WidgetEventType | number)[],
  { load = 1, firstEvent = 1, offerId = null, wallMs = sub.readUIntBE(0, 6) + 3_000 }: WidgetEventOptions = {},
): WidgetEventsReportedRecord {
  return [
    6,
    wallMs,
    sub,
    widgetId(load),
    Buffer.concat(types.map((_, at) => widgetId(firstEvent + at))),
    types.map((type) => (typeof type === 'number' ? type : widgetEventTypes.indexOf(type))),
    types.map(() => offerId),
  ];
}

interface WidgetEventOptions {
  readonly load?: number;
  /** Id of the first event. The ids of the next events are consecutive numbers. */
  readonly firstEvent?: number;
  readonly offerId?: string | null;
  readonly wallMs?: number;
}

function widgetId(number: number): Buffer {
  const bytes = Buffer.alloc(widgetIdLength);
  bytes.writeUInt32BE(number, widgetIdLength - 4);
  return bytes;
}

/** The last items of a click record: the decision at the time of the click. */
export type ClickDecision =
  | readonly []
  | readonly [isBooked: boolean | null, unbookedReason?: number | null, confirmsRevenue?: boolean];

/**
 * Returns the record of a click, by default two seconds after the creation of the session, without a decision and without a flat payout.
 */
export function offerClickedRecord(
  sub: Buffer,
  offerId: string,
  {
    lender = `Lender of ${offerId}`,
    valueMicros = 1_000_000,
    wallMs = sub.readUIntBE(0, 6) + 2_000,
    decision = [],
    payoutMicros,
  }: { lender?: string; valueMicros?: number; wallMs?: number; decision?: ClickDecision; payoutMicros?: number } = {},
): OfferClickedRecord {
  const click = [3, wallMs, sub, 'catalog-1', offerId, lender, valueMicros] as const;
  if (payoutMicros === undefined) return [...click, ...decision];
  const [isBooked, unbookedReason, confirmsRevenue = isBooked === undefined ? undefined : false] = decision;
  return [...click, isBooked, unbookedReason, confirmsRevenue, payoutMicros];
}

interface PayoutOptions {
  readonly txid?: string;
  readonly micros?: number;
  readonly lender?: string;
  /** Time of the payout in milliseconds. Default: a day after the session's creation, reported an hour later. */
  readonly occurredMs?: number;
  readonly wallMs?: number;
}

/**
 * Returns the record of a payout for a click, by default without evidence of the click. `flatPayout` marks the record of a vertical with flat
 * payouts: the payout in the click_id, or null.
 */
export function revenueConfirmedRecord(
  sub: Buffer,
  offerId: string,
  {
    click = null,
    flatPayout,
    ...wanted
  }: PayoutOptions & {
    click?: { clickedMs: number; valueMicros: number } | null;
    flatPayout?: number | null;
  } = {},
): RevenueConfirmedRecord {
  const [wallMs, ...booking] = payoutMembers(sub, offerId, wanted);
  const record = [4, wallMs, ...booking, click?.clickedMs ?? null, click?.valueMicros ?? null] as const;
  return flatPayout === undefined ? record : [...record, flatPayout];
}

/** Returns the record of a reversal: of a payout, or with `reason` of revenue that the click confirmed. */
export function revenueReversedRecord(
  sub: Buffer,
  offerId: string,
  { reason, ...wanted }: PayoutOptions & { reason?: number } = {},
): RevenueReversedRecord {
  const [wallMs, ...booking] = payoutMembers(sub, offerId, wanted);
  return reason === undefined ? [5, wallMs, ...booking] : [5, wallMs, ...booking, reason];
}

function payoutMembers(
  sub: Buffer,
  offerId: string,
  {
    txid = 'tx-1',
    micros = 40_000_000,
    lender = `Lender of ${offerId}`,
    occurredMs = sub.readUIntBE(0, 6) + 24 * 3_600_000,
    wallMs = occurredMs + 3_600_000,
  }: PayoutOptions,
) {
  return [wallMs, sub, offerId, lender, txid, micros, occurredMs] as const;
}
