import Type from 'typebox';
import type { Caller } from '../auth/key-usage.ts';
import { bounds } from '../bounds.ts';
import { isJsonObject } from '../domain/assert-options.ts';
import { formatIsoTimestamp } from '../domain/calendar.ts';
import type { Clock } from '../domain/clock.ts';
import {
  durabilityFailure,
  failureOutcomeWithCode,
  type Outcome,
  serviceUnavailable,
  successOutcome,
} from '../domain/outcome.ts';
import type { Tenant } from '../domain/tenant.ts';
import { exceedsCodePointLimit } from '../domain/text.ts';
import type { AppendedRecord } from '../event-log/event-log.ts';
import { decodeSubId, formatSubId, type SubIds } from '../ids/sub-id.ts';
import type { UnitHasher } from '../ids/unit-hasher.ts';
import type { Ledger } from '../ledger/ledger.ts';
import { ledgerRecordKind, type SessionCreatedRecord } from '../ledger/ledger-record.ts';
import type { HashAssignments } from '../sessions/hash-assignments.ts';
import type { IdempotencyDigests, IdempotencyKeys, OriginalRequest } from '../sessions/idempotency-keys.ts';
import type { ReferrerTagReservation, ReferrerTags } from '../sessions/referrer-tags.ts';
import type { SessionStore } from '../sessions/session-store.ts';
import type { DeviceClassifier } from '../user-agents/device-classifier.ts';
import { defineOperation, type InputOf, isIdempotencyKey } from './api-operation.ts';
import { awaitDurableRecord } from './await-durable.ts';
import { unitIdMember } from './request-members.ts';
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
  readonly unitHasher: UnitHasher;
  readonly hashAssignments: Pick<HashAssignments, 'isMisassigned'>;
  readonly sessions: SessionStore;
  readonly ledger: Ledger;
  readonly devices: DeviceClassifier;
  readonly idempotencyKeys: IdempotencyKeys;
  readonly referrerTags: ReferrerTags;
  readonly sessionTtlMs: number;
}

/** Session in API responses (docs/contract.md#session-members). */
export type SessionResponse = ValueOf<typeof sessionSchema>;
const sessionSchema = Type.Object(
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
  readonly unitId: string | undefined;
}

export interface CreatedSession {
  readonly session: SessionResponse;
  /** Whether an earlier request with the same Idempotency-Key created the session. */
  readonly replayed: boolean;
}

const metadataCharactersMax = bounds.metadataCharactersMax;

const metadataSchema = Type.Unsafe<Readonly<Record<string, string | number | boolean | null>>>(
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
);

/** A valid request body of POST /session (docs/contract.md#session-members). */
export type CreateSessionBody = InputOf<typeof createSession>;

/**
 * POST /session. A request that repeats an Idempotency-Key (docs/contract.md#idempotency) creates no session and returns the session of the
 * first request, unless the first request was refused. If no session is created, the reservation in the daily session limit of the API key
 * is released before the response.
 */
export const createSession = defineOperation({
  id: 'createSession',
  method: 'POST',
  path: '/session',
  limit: 'sessions',
  summary: 'Create a session',
  description: 'Create one for each page load. Its views, clicks and revenue count for its referrer tag.',
  body: {
    title: 'SessionRequest',
    members: {
      referrer_tag: { schema: referrerTagSchema, errorCode: 'INVALID_REFERRER_TAG' },
      user_agent: {
        schema: Type.Optional(
          Type.String({
            maxLength: bounds.userAgentCharactersMax,
            description: "The visitor's user agent. The `User-Agent` header is not used.",
          }),
        ),
        // The length is the number of code points. The check of the schema would count grapheme clusters.
        accepts: (value: unknown) => isTextWithin(value, bounds.userAgentCharactersMax),
      },
      metadata: { schema: Type.Optional(metadataSchema), accepts: isMetadata },
      unit_id: { ...unitIdMember, schema: Type.Optional(unitIdMember.schema) },
    },
    examples: { session: { recorded: 'sessionRequest' } },
  },
  response: { description: 'The session.', schema: sessionSchema, examples: { session: { recorded: 'session' } } },
  errors: ['TAG_LIMIT_EXCEEDED'],
  invalidParamExample: 'user_agent',
  isRepeat: isIdempotentRepeat,
  isReplayed: ({ replayed }: CreatedSession) => replayed,
  createResponse: ({ session }: CreatedSession) => session,
  async handle(
    deps: CreateSessionDeps,
    { referrer_tag: referrerTag, user_agent: userAgent, metadata, unit_id: unitId },
    { caller, quotaReservation, idempotencyKey },
  ): Promise<Outcome<CreatedSession>> {
    const metadataJson = metadata === undefined ? null : JSON.stringify(metadata);
    // The digest of a request depends on the names and the order of these members. An undefined member does not change the digest.
    const request: SessionRequest = { referrerTag, userAgent, metadata: metadataJson, unitId };
    let isRecorded = false;
    let digests: IdempotencyDigests | null = null;
    let tagReservation: ReferrerTagReservation | null = null;
    try {
      if (idempotencyKey !== null) {
        const found = deps.idempotencyKeys.lookUpRequest(
          tenantScopedKey(caller, idempotencyKey),
          JSON.stringify(request),
        );
        if (found.kind === 'mismatch') return failureOutcomeWithCode('IDEMPOTENCY_MISMATCH');
        if (found.kind === 'repeat') return await replaySession(deps, caller, request.referrerTag, found.first);
        if (!deps.idempotencyKeys.tryMakeRoom()) return serviceUnavailable(bounds.retryAfterSeconds);
        digests = found.digests;
      }
      // `quotaReservation` is null if the Idempotency-Key was removed after `isIdempotentRepeat` found the key. If the client retries, `quotaReservation` is set.
      if (quotaReservation === null) return serviceUnavailable(bounds.retryAfterSeconds);

      tagReservation = deps.referrerTags.reserveReferrerTag(caller, request.referrerTag);
      if (tagReservation === null) return failureOutcomeWithCode('TAG_LIMIT_EXCEEDED');
      const pending = addSession(deps, caller, request, digests);
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
      if (!isRecorded) quotaReservation?.release();
    }
  },
});

/** Whether an earlier request used this Idempotency-Key. A repeated Idempotency-Key never creates a session, whatever the payload. */
function isIdempotentRepeat({ idempotencyKeys }: CreateSessionDeps, tenant: Tenant, idempotencyKey: string): boolean {
  return isIdempotencyKey(idempotencyKey) && idempotencyKeys.has(tenantScopedKey(tenant, idempotencyKey));
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

function isTextWithin(value: unknown, charactersMax: number): value is string {
  return typeof value === 'string' && !exceedsCodePointLimit(value, charactersMax);
}

/** Checks the number of metadata entries, and the types and lengths of their names and values. */
function isMetadata(value: unknown): boolean {
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
  { clock, subIds, unitHasher, hashAssignments, sessions, ledger, devices, sessionTtlMs }: CreateSessionDeps,
  caller: Caller,
  { referrerTag, userAgent, metadata, unitId }: SessionRequest,
  digests: IdempotencyDigests | null,
): { readonly view: SessionResponse; readonly record: AppendedRecord } | null {
  if (!sessions.tryMakeRoom()) return null;
  const createdMs = clock.wallMs();
  const subId = subIds.createSubId(createdMs, caller.account, caller.vertical.number, caller.mode);
  const device = devices.classifyDevice(userAgent);
  const record = [
    ledgerRecordKind.sessionCreated,
    createdMs,
    subIds.toBytes(subId),
    referrerTag,
    caller.keyNumber,
    device,
    metadata,
  ] as const;
  let complete: SessionCreatedRecord = digests === null ? record : [...record, digests.key, digests.payload];
  if (unitId !== undefined) {
    const withUnit = [...record, digests?.key, digests?.payload, unitHasher.hash(caller.account, unitId)] as const;
    const isMisassigned = hashAssignments.isMisassigned(caller, referrerTag, unitId, createdMs);
    complete = isMisassigned ? [...withUnit, true] : withUnit;
  }
  const appended = ledger.append(complete);
  if (appended === null) return null;
  sessions.add(subId);
  return { view: toSessionView(subId, caller, createdMs, referrerTag, sessionTtlMs), record: appended };
}
