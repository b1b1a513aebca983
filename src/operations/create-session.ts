import Type from 'typebox';
import { bounds } from '../bounds.ts';
import { isJsonObject } from '../domain/assert-options.ts';
import { formatIsoTimestamp } from '../domain/calendar.ts';
import type { Clock } from '../domain/clock.ts';
import {
  durabilityFailure,
  failureOutcomeWithCode,
  invalidRequest,
  type Outcome,
  serviceUnavailable,
  successOutcome,
} from '../domain/outcome.ts';
import type { Tenant } from '../domain/tenant.ts';
import { exceedsCodePointLimit, isVisibleAscii } from '../domain/text.ts';
import type { AppendedRecord } from '../event-log/event-log.ts';
import { decodeSubId, formatSubId, type SubIds } from '../ids/sub-id.ts';
import type { Ledger } from '../ledger/ledger.ts';
import { ledgerRecordKind } from '../ledger/ledger-record.ts';
import type { IdempotencyDigests, IdempotencyKeys, OriginalRequest } from '../sessions/idempotency-keys.ts';
import type { ReferrerTagReservation, ReferrerTags } from '../sessions/referrer-tags.ts';
import { isReferrerTag } from '../sessions/referrer-tags.ts';
import type { SessionStore } from '../sessions/session-store.ts';
import type { DeviceClassifier } from '../user-agents/device-classifier.ts';
import { awaitDurableRecord } from './await-durable.ts';
import {
  ignoredParametersProperty,
  referrerTagSchema,
  subIdSchema,
  timestampSchema,
  type ValueOf,
} from './schema-parts.ts';

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

export type SessionMetadata = Readonly<Record<string, string | number | boolean | null>>;

const metadataCharactersMax = bounds.metadataCharactersMax;

/** A valid request body of POST /session (docs/contract.md#session-members). */
export type CreateSessionBody = ValueOf<typeof sessionRequestSchema>;
export const sessionRequestSchema = Type.Object(
  {
    referrer_tag: referrerTagSchema,
    user_agent: Type.Optional(
      Type.String({
        maxLength: bounds.userAgentCharactersMax,
        description: "The visitor's user agent. The `User-Agent` header is not used.",
      }),
    ),
    metadata: Type.Optional(
      Type.Unsafe<SessionMetadata>(
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
    ),
  },
  { title: 'SessionRequest' },
);

/** Session in API responses (docs/contract.md#session-members). */
export type SessionResponse = ValueOf<typeof sessionSchema>;
export const sessionSchema = Type.Object(
  {
    sub_id: subIdSchema,
    referrer_tag: referrerTagSchema,
    created_at: timestampSchema('When the session was created'),
    expires_at: timestampSchema('When the session expires, four hours later'),
    sandbox: Type.Boolean({ description: 'Whether a test key created it.' }),
    ...ignoredParametersProperty,
  },
  { title: 'Session' },
);

interface SessionRequest {
  readonly referrerTag: string;
  readonly userAgent: string | undefined;
  /** JSON text of the metadata; null without metadata. */
  readonly metadata: string | null;
}

export interface CreatedSession {
  readonly session: SessionResponse;
  /** Whether an earlier request with the same Idempotency-Key created the session. */
  readonly replayed: boolean;
}

/**
 * POST /session. A request that repeats an Idempotency-Key (docs/contract.md#idempotency) creates no session and
 * returns the session of the first request, unless the first request was refused.
 *
 * @param quota reservation of one session in the daily session limit of the API key, released before the response if no
 * session was created; null if `isIdempotentRepeat` returned true
 */
export async function createSession(
  deps: CreateSessionDeps,
  tenant: Tenant,
  keyNumber: number,
  body: unknown,
  idempotencyKey: string | null,
  quota: { release(): void } | null,
): Promise<Outcome<CreatedSession>> {
  let isRecorded = false;
  let digests: IdempotencyDigests | null = null;
  let tagReservation: ReferrerTagReservation | null = null;
  try {
    if (idempotencyKey !== null && !isIdempotencyKey(idempotencyKey)) return invalidRequest('Idempotency-Key');
    const parsed = parseSessionRequest(body);
    if (!parsed.ok) return parsed;
    const request = parsed.value;

    if (idempotencyKey !== null) {
      const found = deps.idempotencyKeys.lookUpRequest(
        tenantScopedKey(tenant, idempotencyKey),
        JSON.stringify(request),
      );
      if (found.kind === 'mismatch') return failureOutcomeWithCode('IDEMPOTENCY_MISMATCH');
      if (found.kind === 'repeat') return await replaySession(deps, tenant, request.referrerTag, found.first);
      if (!deps.idempotencyKeys.tryMakeRoom()) return serviceUnavailable(bounds.retryAfterSeconds);
      digests = found.digests;
    }
    // `quota` is null if the Idempotency-Key was removed after `isIdempotentRepeat` found the key. If the client retries, `quota` is set.
    if (quota === null) return serviceUnavailable(bounds.retryAfterSeconds);

    tagReservation = deps.referrerTags.reserveReferrerTag(tenant, request.referrerTag);
    if (tagReservation === null) return failureOutcomeWithCode('TAG_LIMIT_EXCEEDED');
    const pending = addSession(deps, tenant, keyNumber, request, digests);
    if (pending === null) return serviceUnavailable(bounds.retryAfterSeconds);
    isRecorded = true;
    const { view, record } = pending;
    if (digests !== null) {
      deps.idempotencyKeys.addPendingRequest(digests, { sub: deps.subIds.toBytes(view.sub_id), ...record });
    }
    const written = await awaitDurableRecord(deps.ledger, record);
    return written.ok ? successOutcome({ session: view, replayed: false }) : written;
  } finally {
    if (digests !== null) deps.idempotencyKeys.completePendingRequest(digests, isRecorded);
    tagReservation?.settleReservation(isRecorded);
    if (!isRecorded) quota?.release();
  }
}

/** Whether an earlier request used this Idempotency-Key. A repeated Idempotency-Key never creates a session, whatever the payload. */
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

/** Returns the Idempotency-Key with the tenant as prefix, because different tenants may use the same key. */
function tenantScopedKey({ account, vertical, mode }: Tenant, idempotencyKey: string): string {
  return `${account} ${vertical.number} ${mode} ${idempotencyKey}`;
}

/**
 * Returns the session of the first request once the session's record is durable, even if the first response was 503. `referrerTag` is the
 * tag in the repeated request, which equals the tag in the first request.
 */
async function replaySession(
  { ledger, sessionTtlMs }: CreateSessionDeps,
  tenant: Tenant,
  referrerTag: string,
  { sub, position, durable }: OriginalRequest,
): Promise<Outcome<CreatedSession>> {
  if (durable !== null) {
    const written = await awaitDurableRecord(ledger, { position, durable });
    if (!written.ok) return written;
  } else if (ledger.durablePosition < position) return durabilityFailure(bounds.retryAfterSeconds, true);
  const session = toSessionView(formatSubId(sub), tenant, decodeSubId(sub).createdMs, referrerTag, sessionTtlMs);
  return successOutcome({ session, replayed: true });
}

function toSessionView(
  subId: string,
  tenant: Tenant,
  createdMs: number,
  referrerTag: string,
  sessionTtlMs: number,
): SessionResponse {
  return {
    sub_id: subId,
    referrer_tag: referrerTag,
    created_at: formatIsoTimestamp(createdMs),
    expires_at: formatIsoTimestamp(createdMs + sessionTtlMs),
    sandbox: tenant.mode === 'test',
  };
}

function parseSessionRequest(body: unknown): Outcome<SessionRequest> {
  if (!isJsonObject(body)) return invalidRequest('body');
  const { referrer_tag: referrerTag, user_agent: userAgent, metadata } = body;
  if (!isReferrerTag(referrerTag)) return failureOutcomeWithCode('INVALID_REFERRER_TAG');
  if (userAgent !== undefined && !isTextWithin(userAgent, bounds.userAgentCharactersMax)) {
    return invalidRequest('user_agent');
  }
  if (metadata !== undefined && !isMetadata(metadata)) return invalidRequest('metadata');
  return successOutcome({ referrerTag, userAgent, metadata: metadata === undefined ? null : JSON.stringify(metadata) });
}

function isTextWithin(value: unknown, charactersMax: number): value is string {
  return typeof value === 'string' && !exceedsCodePointLimit(value, charactersMax);
}

/** Checks the number of metadata entries, and the types and lengths of their names and values. */
function isMetadata(value: unknown): value is SessionMetadata {
  if (!isJsonObject(value)) return false;
  const entries = Object.entries(value);
  return (
    entries.length <= bounds.metadataKeysMax &&
    entries.every(
      ([name, member]) =>
        isTextWithin(name, bounds.metadataCharactersMax) &&
        (isTextWithin(member, bounds.metadataCharactersMax) ||
          typeof member === 'boolean' ||
          member === null ||
          isExactNumber(member)),
    )
  );
}

/** Whether a value is a decimal or a safe integer. A larger integer may have lost its last digits when it was parsed. */
function isExactNumber(value: unknown): boolean {
  return Number.isInteger(value) ? Number.isSafeInteger(value) : Number.isFinite(value);
}

/** Appends the record of a session to the ledger and stores the session. Returns null if the session store is full or the ledger refuses the record. */
function addSession(
  { clock, subIds, sessions, ledger, devices, sessionTtlMs }: CreateSessionDeps,
  tenant: Tenant,
  keyNumber: number,
  { referrerTag, userAgent, metadata }: SessionRequest,
  digests: IdempotencyDigests | null,
): { readonly view: SessionResponse; readonly record: AppendedRecord } | null {
  if (!sessions.tryMakeRoom()) return null;
  const createdMs = clock.wallMs();
  const subId = subIds.createSubId(createdMs, tenant.account, tenant.vertical.number, tenant.mode);
  const device = devices.classifyDevice(userAgent);
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
  if (appended === null) return null;
  sessions.add(subId, tenant);
  return { view: toSessionView(subId, tenant, createdMs, referrerTag, sessionTtlMs), record: appended };
}
