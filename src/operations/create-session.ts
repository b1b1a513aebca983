import { type Static, Type } from 'typebox';
import { Compile } from 'typebox/compile';
import { bounds } from '../bounds.ts';
import { isoTimestamp } from '../domain/calendar.ts';
import type { Clock } from '../domain/clock.ts';
import { invalidRequest, notDurable, type Outcome, refusedWith, succeeded, unavailable } from '../domain/outcome.ts';
import { exceedsCodePoints, isVisibleAscii } from '../domain/text.ts';
import type { AppendedRecord } from '../event-log/event-log.ts';
import { decodeSubId, formatSubId, type SubIds } from '../ids/sub-id.ts';
import type { Ledger } from '../ledger/ledger.ts';
import { ledgerRecordKind } from '../ledger/ledger-record.ts';
import type { IdempotencyDigests, IdempotencyKeys, OriginalRequest } from '../sessions/idempotency-keys.ts';
import type { ReferrerTags, TagReservation } from '../sessions/referrer-tags.ts';
import { isReferrerTag } from '../sessions/referrer-tags.ts';
import type { SessionStore } from '../sessions/session-store.ts';
import type { DeviceClassifier } from '../user-agents/device-classifier.ts';
import type { Tenant } from '../verticals/tenant.ts';
import { awaitDurable } from './await-durable.ts';
import type { IgnoredNames } from './ignored-names.ts';

export interface CreateSessionDeps {
  readonly clock: Clock;
  readonly subIds: SubIds;
  readonly sessions: SessionStore;
  readonly ledger: Ledger;
  readonly devices: DeviceClassifier;
  readonly idempotencyKeys: IdempotencyKeys;
  readonly referrerTags: ReferrerTags;
  readonly sessionTtlMs: number;
}

/** The session object (docs/contract.md#session-members). */
export interface SessionView extends IgnoredNames {
  readonly sub_id: string;
  readonly referrer_tag: string;
  readonly created_at: string;
  readonly expires_at: string;
  readonly sandbox: boolean;
}

/** Types of the optional members (docs/contract.md#session-members); their sizes are judged in code points below. */
const optionalMembersSchema = Type.Object({
  user_agent: Type.Optional(Type.String()),
  // Not a Record: its pattern for names passes over those with a line break, and whatever value they have.
  metadata: Type.Optional(
    Type.Object({}, { additionalProperties: Type.Union([Type.String(), Type.Number(), Type.Boolean(), Type.Null()]) }),
  ),
});
const optionalMembersValidator = Compile(optionalMembersSchema);

/** The body of a request that is taken. */
export type SessionBody = { readonly referrer_tag: string } & Static<typeof optionalMembersSchema>;

/** A body of the right shape. */
interface SessionRequest {
  readonly referrerTag: string;
  readonly userAgent: string | undefined;
  /** JSON text, or null when there is none. */
  readonly metadata: string | null;
}

/** What a caller gets, and whether an earlier request with the same Idempotency-Key had got it first. */
export interface CreatedSession {
  readonly session: SessionView;
  readonly replayed: boolean;
}

/** A session whose record is on its way: it becomes the caller's when the record is durable. */
interface PendingSession {
  readonly view: SessionView;
  readonly record: AppendedRecord;
}

/** The place that a new session has in its key's day (docs/contract.md#sessions-per-day). */
interface SessionQuotaReservation {
  release(): void;
}

/**
 * POST /session. With an Idempotency-Key (docs/contract.md#idempotency), a request that was made before gets what it got then, waiting
 * for it if need be, and creates nothing; unless it was refused: then this is the first.
 *
 * `slot` is given back, before the answer, when this request has certainly created no session. It is null for a request for which
 * `isRepeat` was true: such a request creates no session.
 */
export async function createSession(
  ports: CreateSessionDeps,
  tenant: Tenant,
  keyNumber: number,
  body: unknown,
  idempotencyKey: string | null,
  slot: SessionQuotaReservation | null,
): Promise<Outcome<CreatedSession>> {
  let mayCreate = false;
  let keyed: IdempotencyDigests | null = null;
  let tagUse: TagReservation | null = null;
  try {
    if (idempotencyKey !== null && !isIdempotencyKey(idempotencyKey)) return invalidRequest('Idempotency-Key');
    const read = parseSessionRequest(body);
    if (!read.ok) return read;
    const request = read.value;

    if (idempotencyKey !== null) {
      const found = ports.idempotencyKeys.lookUp(tenantScopedKey(tenant, idempotencyKey), JSON.stringify(request));
      if (found.kind === 'mismatch') return refusedWith('IDEMPOTENCY_MISMATCH');
      if (found.kind === 'repeat') return await replaySession(ports, tenant, request.referrerTag, found.first);
      if (!ports.idempotencyKeys.makeRoom()) return unavailable(bounds.retryAfterSeconds);
      keyed = found.digests;
    }
    // `isRepeat` was true, but the first request has expired or failed since. A retry is checked against the day limit again.
    if (slot === null) return unavailable(bounds.retryAfterSeconds);

    tagUse = ports.referrerTags.reserve(tenant, request.referrerTag);
    if (tagUse === null) return refusedWith('TAG_LIMIT_EXCEEDED');
    const opened = addSession(ports, tenant, keyNumber, request, keyed);
    if (opened === null) return unavailable(bounds.retryAfterSeconds);
    mayCreate = true;
    const { view, record } = opened;
    if (keyed !== null) {
      ports.idempotencyKeys.addPending(keyed, { sub: ports.subIds.lastIssuedBytes, ...record });
    }
    const written = await awaitDurable(ports.ledger, record);
    return written.ok ? succeeded({ session: view, replayed: false }) : written;
  } finally {
    if (keyed !== null) ports.idempotencyKeys.settlePending(keyed, mayCreate);
    tagUse?.settle(mayCreate);
    if (!mayCreate) slot?.release();
  }
}

/** Whether a request with this Idempotency-Key was made before, so that one more creates no session, whatever its payload. */
export function isIdempotentRepeat(
  { idempotencyKeys }: Pick<CreateSessionDeps, 'idempotencyKeys'>,
  tenant: Tenant,
  idempotencyKey: string,
): boolean {
  return isIdempotencyKey(idempotencyKey) && idempotencyKeys.has(tenantScopedKey(tenant, idempotencyKey));
}

function isIdempotencyKey(text: string): boolean {
  return isVisibleAscii(text, bounds.idempotencyKeyCharactersMax);
}

/** The name that an Idempotency-Key is remembered by: tenants may use the same key. */
function tenantScopedKey({ account, vertical, mode }: Tenant, idempotencyKey: string): string {
  return `${account} ${vertical.number} ${mode} ${idempotencyKey}`;
}

/**
 * The first answer, also where the first request was told 503 and its record was written later. It is made from the session's id;
 * the tag is the repeat's own, since the payloads are the same.
 */
async function replaySession(
  { ledger, sessionTtlMs }: CreateSessionDeps,
  tenant: Tenant,
  referrerTag: string,
  { sub, position, durable }: OriginalRequest,
): Promise<Outcome<CreatedSession>> {
  if (durable !== null) {
    const written = await awaitDurable(ledger, { position, durable });
    if (!written.ok) return written;
  } else if (ledger.durablePosition < position) return notDurable(bounds.retryAfterSeconds, true);
  const session = toSessionView(formatSubId(sub), tenant, decodeSubId(sub).createdMs, referrerTag, sessionTtlMs);
  return succeeded({ session, replayed: true });
}

function toSessionView(
  subId: string,
  tenant: Tenant,
  createdMs: number,
  referrerTag: string,
  sessionTtlMs: number,
): SessionView {
  return {
    sub_id: subId,
    referrer_tag: referrerTag,
    created_at: isoTimestamp(createdMs),
    expires_at: isoTimestamp(createdMs + sessionTtlMs),
    sandbox: tenant.mode === 'test',
  };
}

function parseSessionRequest(body: unknown): Outcome<SessionRequest> {
  if (typeof body !== 'object' || body === null || Array.isArray(body)) return invalidRequest('body');
  const { referrer_tag: referrerTag } = body as { referrer_tag?: unknown };
  if (!isReferrerTag(referrerTag)) return refusedWith('INVALID_REFERRER_TAG');
  if (!optionalMembersValidator.Check(body))
    return invalidRequest(isUserAgentTypeValid(body) ? 'metadata' : 'user_agent');
  const { user_agent: userAgent, metadata } = body;
  if (userAgent !== undefined && exceedsCodePoints(userAgent, bounds.userAgentCharactersMax)) {
    return invalidRequest('user_agent');
  }
  if (metadata !== undefined && !isMetadataWithinBounds(metadata)) return invalidRequest('metadata');
  return succeeded({ referrerTag, userAgent, metadata: metadata === undefined ? null : JSON.stringify(metadata) });
}

/** Stores a session and appends its record. Returns null if the store is full or the ledger refuses the record. */
function addSession(
  { clock, subIds, sessions, ledger, devices, sessionTtlMs }: CreateSessionDeps,
  tenant: Tenant,
  keyNumber: number,
  { referrerTag, userAgent, metadata }: SessionRequest,
  keyed: IdempotencyDigests | null,
): PendingSession | null {
  const createdMs = clock.wallMs();
  const subId = subIds.issue(createdMs, tenant.account, tenant.vertical.number, tenant.mode);
  if (!sessions.add(subId, tenant)) return null;
  const device = devices.classify(userAgent);
  const record = [
    ledgerRecordKind.sessionCreated,
    createdMs,
    subIds.lastIssuedBytes,
    referrerTag,
    keyNumber,
    device,
    metadata,
  ] as const;
  const appended = ledger.append(keyed === null ? record : [...record, keyed.key, keyed.payload]);
  if (appended === null) {
    sessions.delete(subId);
    return null;
  }
  return { view: toSessionView(subId, tenant, createdMs, referrerTag, sessionTtlMs), record: appended };
}

function isUserAgentTypeValid(body: object): boolean {
  const { user_agent: userAgent } = body as { user_agent?: unknown };
  return userAgent === undefined || typeof userAgent === 'string';
}

/** Whether names and values keep to their sizes (docs/contract.md#session-members); a value that is no string is measured as JSON text. */
function isMetadataWithinBounds(metadata: object): boolean {
  const entries: [string, unknown][] = Object.entries(metadata);
  if (entries.length > bounds.metadataKeysMax) return false;
  return entries.every(([key, value]) => {
    const text = typeof value === 'string' ? value : JSON.stringify(value);
    return (
      !exceedsCodePoints(key, bounds.metadataCharactersMax) && !exceedsCodePoints(text, bounds.metadataCharactersMax)
    );
  });
}
