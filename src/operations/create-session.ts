import { type Static, Type } from 'typebox';
import { Compile } from 'typebox/compile';
import { bounds } from '../bounds.ts';
import { isoTimestamp } from '../domain/calendar.ts';
import type { Clock } from '../domain/clock.ts';
import { failedWith, invalidRequest, notDurable, type Outcome, succeeded, unavailable } from '../domain/outcome.ts';
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

/** Types of the optional members (docs/contract.md#session-members). Other checks below limit their sizes in code points. */
const optionalMembersSchema = Type.Object({
  user_agent: Type.Optional(Type.String()),
  // Type.Record accepts any value for a name with a line break, so additionalProperties is used instead.
  metadata: Type.Optional(
    Type.Object({}, { additionalProperties: Type.Union([Type.String(), Type.Number(), Type.Boolean(), Type.Null()]) }),
  ),
});
const optionalMembersValidator = Compile(optionalMembersSchema);

/** A valid request body of POST /session. */
export type SessionBody = { readonly referrer_tag: string } & Static<typeof optionalMembersSchema>;

interface SessionRequest {
  readonly referrerTag: string;
  readonly userAgent: string | undefined;
  /** JSON text of the metadata; null without metadata. */
  readonly metadata: string | null;
}

export interface CreatedSession {
  readonly session: SessionView;
  /** Whether an earlier request with the same Idempotency-Key created the session. */
  readonly replayed: boolean;
}

/** A session whose record may not be durable yet. */
interface PendingSession {
  readonly view: SessionView;
  readonly record: AppendedRecord;
}

/** Reservation of one session in the daily quota of a key (docs/contract.md#sessions-per-day). */
interface SessionQuotaReservation {
  release(): void;
}

/**
 * POST /session. A request that repeats an Idempotency-Key (docs/contract.md#idempotency) creates no session and returns the
 * session of the first request, unless the first request was refused.
 *
 * @param quota reservation that is released before the response if no session was created; null if `isIdempotentRepeat` returned true
 */
export async function createSession(
  deps: CreateSessionDeps,
  tenant: Tenant,
  keyNumber: number,
  body: unknown,
  idempotencyKey: string | null,
  quota: SessionQuotaReservation | null,
): Promise<Outcome<CreatedSession>> {
  let isRecorded = false;
  let digests: IdempotencyDigests | null = null;
  let tagReservation: TagReservation | null = null;
  try {
    if (idempotencyKey !== null && !isIdempotencyKey(idempotencyKey)) return invalidRequest('Idempotency-Key');
    const parsed = parseSessionRequest(body);
    if (!parsed.ok) return parsed;
    const request = parsed.value;

    if (idempotencyKey !== null) {
      const found = deps.idempotencyKeys.lookUp(tenantScopedKey(tenant, idempotencyKey), JSON.stringify(request));
      if (found.kind === 'mismatch') return failedWith('IDEMPOTENCY_MISMATCH');
      if (found.kind === 'repeat') return await replaySession(deps, tenant, request.referrerTag, found.first);
      if (!deps.idempotencyKeys.makeRoom()) return unavailable(bounds.retryAfterSeconds);
      digests = found.digests;
    }
    // The key of the first request was removed after `isIdempotentRepeat` found it. The retry is checked against the quota again.
    if (quota === null) return unavailable(bounds.retryAfterSeconds);

    tagReservation = deps.referrerTags.reserve(tenant, request.referrerTag);
    if (tagReservation === null) return failedWith('TAG_LIMIT_EXCEEDED');
    const pending = addSession(deps, tenant, keyNumber, request, digests);
    if (pending === null) return unavailable(bounds.retryAfterSeconds);
    isRecorded = true;
    const { view, record } = pending;
    if (digests !== null) {
      deps.idempotencyKeys.addPending(digests, { sub: deps.subIds.toBytes(view.sub_id), ...record });
    }
    const written = await awaitDurable(deps.ledger, record);
    return written.ok ? succeeded({ session: view, replayed: false }) : written;
  } finally {
    if (digests !== null) deps.idempotencyKeys.settlePending(digests, isRecorded);
    tagReservation?.settle(isRecorded);
    if (!isRecorded) quota?.release();
  }
}

/** Whether an earlier request used this Idempotency-Key. Then another request with the key creates no session, whatever its payload. */
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

/** Returns the idempotency key with its tenant as prefix, because different tenants may use the same key. */
function tenantScopedKey({ account, vertical, mode }: Tenant, idempotencyKey: string): string {
  return `${account} ${vertical.number} ${mode} ${idempotencyKey}`;
}

/**
 * Returns the session of the first request once its record is durable, even if the first response was 503. The referrer tag comes
 * from the repeated request, whose payload equals that of the first request.
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
  if (!isReferrerTag(referrerTag)) return failedWith('INVALID_REFERRER_TAG');
  if (!optionalMembersValidator.Check(body))
    return invalidRequest(isUserAgentTypeValid(body) ? 'metadata' : 'user_agent');
  const { user_agent: userAgent, metadata } = body;
  if (userAgent !== undefined && exceedsCodePoints(userAgent, bounds.userAgentCharactersMax)) {
    return invalidRequest('user_agent');
  }
  if (metadata !== undefined && !isMetadataWithinBounds(metadata)) return invalidRequest('metadata');
  return succeeded({ referrerTag, userAgent, metadata: metadata === undefined ? null : JSON.stringify(metadata) });
}

/** Stores a session and appends its record to the ledger. Returns null if the session store is full or the ledger refuses the record. */
function addSession(
  { clock, subIds, sessions, ledger, devices, sessionTtlMs }: CreateSessionDeps,
  tenant: Tenant,
  keyNumber: number,
  { referrerTag, userAgent, metadata }: SessionRequest,
  digests: IdempotencyDigests | null,
): PendingSession | null {
  const createdMs = clock.wallMs();
  const subId = subIds.issue(createdMs, tenant.account, tenant.vertical.number, tenant.mode);
  if (!sessions.add(subId, tenant)) return null;
  const device = devices.classify(userAgent);
  const record = [
    ledgerRecordKind.sessionCreated,
    createdMs,
    subIds.toBytes(subId),
    referrerTag,
    keyNumber,
    device,
    metadata,
  ] as const;
  const appended = ledger.append(digests === null ? record : [...record, digests.key, digests.payload]);
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

/** Checks the sizes of metadata names and values (docs/contract.md#session-members). Values that are not strings count as JSON text. */
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
