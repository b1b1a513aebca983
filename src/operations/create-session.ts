import { hash } from 'node:crypto';
import { Type } from 'typebox';
import { Compile } from 'typebox/compile';
import { bounds } from '../bounds.ts';
import type { Clock } from '../domain/clock.ts';
import { isLongerThan } from '../domain/code-points.ts';
import { isoTimestamp } from '../domain/iso-timestamp.ts';
import { done, invalidRequest, type Outcome, refusedFor, unavailable } from '../domain/outcome.ts';
import { type EventLog, LogUnavailable } from '../events/event-log.ts';
import { recordKind } from '../events/ledger-record.ts';
import type { IdempotencyKeys } from '../sessions/idempotency-keys.ts';
import type { SessionStore } from '../sessions/session-store.ts';
import type { SubIds } from '../sessions/sub-id.ts';
import type { DeviceClassifier } from '../user-agents/device-class.ts';
import { emptyPocketVector } from '../verticals/pocket-vector.ts';
import type { Tenant } from '../verticals/tenant.ts';
import { isReferrerTag } from './referrer-tag.ts';

export interface CreateSessionPorts {
  readonly clock: Clock;
  readonly subIds: SubIds;
  readonly sessions: SessionStore;
  readonly ledger: EventLog;
  readonly devices: DeviceClassifier;
  readonly idempotencyKeys: IdempotencyKeys<Outcome<SessionView>>;
  readonly sessionTtlMs: number;
}

/** The Session object of contract 2.1. */
export interface SessionView {
  readonly sub_id: string;
  readonly referrer_tag: string;
  readonly created_at: string;
  readonly expires_at: string;
  readonly sandbox: boolean;
}

/** Types of the optional members (contract 4.1, D5); their sizes are judged in code points below. */
const Optionals = Compile(
  Type.Object({
    user_agent: Type.Optional(Type.String()),
    // Not a Record: its pattern for names passes over those with a line break, and whatever value they have.
    metadata: Type.Optional(
      Type.Object(
        {},
        { additionalProperties: Type.Union([Type.String(), Type.Number(), Type.Boolean(), Type.Null()]) },
      ),
    ),
  }),
);

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

/**
 * POST /session (contract 4.1). With an Idempotency-Key (D5), a repeat gets the first answer and creates nothing; one that
 * comes while the first is pending waits for it. A first request that was refused is forgotten: its repeat is a first one.
 */
export async function createSession(
  ports: CreateSessionPorts,
  tenant: Tenant,
  keyNumber: number,
  body: unknown,
  idempotencyKey: string | null,
): Promise<Outcome<CreatedSession>> {
  if (idempotencyKey !== null && !isIdempotencyKey(idempotencyKey)) return invalidRequest('Idempotency-Key');
  const read = readSessionRequest(body);
  if (!read.ok) return read;
  if (idempotencyKey === null) return created(await openSession(ports, tenant, keyNumber, read.value), false);

  const key = `${tenant.account} ${tenant.vertical.number} ${tenant.mode} ${idempotencyKey}`;
  const payload = hash('sha256', JSON.stringify(body), 'base64');
  const first = ports.idempotencyKeys.find(key);
  if (first !== undefined) {
    return first.payload === payload ? created(await first.answer, true) : refusedFor('IDEMPOTENCY_MISMATCH');
  }
  if (!ports.idempotencyKeys.hasRoom()) return unavailable(bounds.retryAfterSeconds);
  const answer = openSession(ports, tenant, keyNumber, read.value);
  ports.idempotencyKeys.remember(key, { payload, answer });
  let remembered = false;
  try {
    const outcome = await answer;
    remembered = outcome.ok;
    return created(outcome, false);
  } finally {
    if (!remembered) ports.idempotencyKeys.forget(key);
  }
}

function created(outcome: Outcome<SessionView>, replayed: boolean): Outcome<CreatedSession> {
  return outcome.ok ? done({ session: outcome.value, replayed }) : outcome;
}

/** 1 to 255 visible ASCII characters (D5). */
function isIdempotencyKey(text: string): boolean {
  return text.length <= bounds.idempotencyKeyCharactersMax && /^[!-~]+$/.test(text);
}

function readSessionRequest(body: unknown): Outcome<SessionRequest> {
  if (typeof body !== 'object' || body === null || Array.isArray(body)) return invalidRequest('body');
  const { referrer_tag: referrerTag } = body as { referrer_tag?: unknown };
  if (!isReferrerTag(referrerTag)) return refusedFor('INVALID_REFERRER_TAG');
  if (!Optionals.Check(body)) return invalidRequest(hasTypedUserAgent(body) ? 'metadata' : 'user_agent');
  const { user_agent: userAgent, metadata } = body;
  if (userAgent !== undefined && isLongerThan(userAgent, bounds.userAgentCharactersMax)) {
    return invalidRequest('user_agent');
  }
  if (metadata !== undefined && !isWithinBounds(metadata)) return invalidRequest('metadata');
  return done({ referrerTag, userAgent, metadata: metadata === undefined ? null : JSON.stringify(metadata) });
}

/**
 * The session exists for the caller once its record is durable; a refusal after the record was appended leaves open whether
 * it counts, which is what 503 says (D2).
 */
async function openSession(
  ports: CreateSessionPorts,
  tenant: Tenant,
  keyNumber: number,
  { referrerTag, userAgent, metadata }: SessionRequest,
): Promise<Outcome<SessionView>> {
  if (!ports.sessions.reserve()) return unavailable(bounds.retryAfterSeconds);
  const createdMs = ports.clock.wallMs();
  const subId = ports.subIds.issue(createdMs, tenant.account, tenant.vertical.number, tenant.mode);
  const session = { tenant, createdMs, fields: emptyPocketVector(tenant.vertical), ranked: null };
  if (!ports.sessions.add(subId, session)) return unavailable(bounds.retryAfterSeconds);
  try {
    await ports.ledger.append([
      recordKind.sessionCreated,
      createdMs,
      ports.subIds.issuedBytes,
      referrerTag,
      keyNumber,
      ports.devices.classify(userAgent),
      metadata,
    ]);
  } catch (fault) {
    ports.sessions.delete(subId);
    if (fault instanceof LogUnavailable) return unavailable(bounds.retryAfterSeconds);
    throw fault;
  }
  return done({
    sub_id: subId,
    referrer_tag: referrerTag,
    created_at: isoTimestamp(createdMs),
    expires_at: isoTimestamp(createdMs + ports.sessionTtlMs),
    sandbox: tenant.mode === 'test',
  });
}

function hasTypedUserAgent(body: object): boolean {
  const { user_agent: userAgent } = body as { user_agent?: unknown };
  return userAgent === undefined || typeof userAgent === 'string';
}

/** At most ten keys; keys and values at most 256 characters each, a value that is no string measured as its JSON text. */
function isWithinBounds(metadata: object): boolean {
  const entries: [string, unknown][] = Object.entries(metadata);
  if (entries.length > bounds.metadataKeysMax) return false;
  return entries.every(([key, value]) => {
    const text = typeof value === 'string' ? value : JSON.stringify(value);
    return !isLongerThan(key, bounds.metadataCharactersMax) && !isLongerThan(text, bounds.metadataCharactersMax);
  });
}
