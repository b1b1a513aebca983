import { type Static, Type } from 'typebox';
import { Compile } from 'typebox/compile';
import { bounds } from '../bounds.ts';
import type { Clock } from '../domain/clock.ts';
import { isLongerThan } from '../domain/code-points.ts';
import { isoTimestamp } from '../domain/iso-timestamp.ts';
import { done, invalidRequest, notDurable, type Outcome, refusedFor, unavailable } from '../domain/outcome.ts';
import { isVisibleAscii } from '../domain/visible-ascii.ts';
import { type EventLog, LogUnavailable } from '../events/event-log.ts';
import { recordKind } from '../events/ledger-record.ts';
import type { IdempotencyKeys, KeyedRequestDigests } from '../sessions/idempotency-keys.ts';
import type { KeyedSession } from '../sessions/restore-from-ledger.ts';
import type { SessionStore } from '../sessions/session-store.ts';
import type { SubIds } from '../sessions/sub-id.ts';
import type { DeviceClassifier } from '../user-agents/device-class.ts';
import type { Tenant } from '../verticals/tenant.ts';
import { isReferrerTag } from './referrer-tag.ts';
import { whenDurable } from './when-durable.ts';

export interface CreateSessionPorts {
  readonly clock: Clock;
  readonly subIds: SubIds;
  readonly sessions: SessionStore;
  readonly ledger: EventLog;
  readonly devices: DeviceClassifier;
  readonly idempotencyKeys: IdempotencyKeys<Outcome<CreatedSession>>;
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
const optionals = Type.Object({
  user_agent: Type.Optional(Type.String()),
  // Not a Record: its pattern for names passes over those with a line break, and whatever value they have.
  metadata: Type.Optional(
    Type.Object({}, { additionalProperties: Type.Union([Type.String(), Type.Number(), Type.Boolean(), Type.Null()]) }),
  ),
});
const Optionals = Compile(optionals);

/** The body of a request that is taken. */
export type SessionBody = { readonly referrer_tag: string } & Static<typeof optionals>;

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
interface OpenedSession {
  readonly subId: string;
  readonly createdMs: number;
  readonly view: SessionView;
  /** Where its record lies in the ledger, if the ledger took it. */
  readonly position: number;
  readonly durable: Promise<void>;
}

/**
 * POST /session (contract 4.1). With an Idempotency-Key (D5), a request that was made before gets what it got then, waiting
 * for it if need be, and creates nothing; unless it was refused: then this is the first.
 *
 * `onNothingCreated` is called, before the answer, when this request has certainly created no session.
 */
export async function createSession(
  ports: CreateSessionPorts,
  tenant: Tenant,
  keyNumber: number,
  body: unknown,
  idempotencyKey: string | null,
  onNothingCreated: () => void,
): Promise<Outcome<CreatedSession>> {
  let mayCreate = false;
  try {
    if (idempotencyKey !== null && !isVisibleAscii(idempotencyKey, bounds.idempotencyKeyCharactersMax)) {
      return invalidRequest('Idempotency-Key');
    }
    const read = readSessionRequest(body);
    if (!read.ok) return read;
    const request = read.value;

    let keyed: KeyedRequestDigests | null = null;
    if (idempotencyKey !== null) {
      const key = `${tenant.account} ${tenant.vertical.number} ${tenant.mode} ${idempotencyKey}`;
      const payload = JSON.stringify(request);
      const first = ports.idempotencyKeys.find(key, payload);
      if (first !== undefined) return first.samePayload ? await first.answer() : refusedFor('IDEMPOTENCY_MISMATCH');
      if (!ports.idempotencyKeys.hasRoom()) return unavailable(bounds.retryAfterSeconds);
      keyed = ports.idempotencyKeys.digestsOf(key, payload);
    }

    const opened = openSession(ports, tenant, keyNumber, request, keyed);
    if (opened === null) return unavailable(bounds.retryAfterSeconds);
    mayCreate = true;
    if (keyed !== null) ports.idempotencyKeys.remember(keyed, opened.createdMs, () => replay(ports, opened));
    try {
      await opened.durable;
      return done({ session: opened.view, replayed: false });
    } catch (fault) {
      if (!(fault instanceof LogUnavailable)) throw fault;
      mayCreate = fault.taken;
      // A record that the log took is a session after a restart, so it stays one here.
      if (!fault.taken) ports.sessions.delete(opened.subId);
      if (!fault.taken && keyed !== null) ports.idempotencyKeys.forget(keyed);
      return notDurable(bounds.retryAfterSeconds, fault.taken);
    }
  } finally {
    if (!mayCreate) onNothingCreated();
  }
}

/** What a repeat gets: the first answer, also where the first request was told 503 and its record was written later. */
async function replay({ ledger }: CreateSessionPorts, opened: OpenedSession): Promise<Outcome<CreatedSession>> {
  const written = await whenDurable(ledger, opened);
  return written.ok ? done({ session: opened.view, replayed: true }) : written;
}

/**
 * Remembers the Idempotency-Key of a session that was created before a restart, as the ledger tells it: a repeat gets what
 * the first request got.
 */
export function restoreIdempotencyKey(
  { idempotencyKeys, sessionTtlMs }: Pick<CreateSessionPorts, 'idempotencyKeys' | 'sessionTtlMs'>,
  { subId, tenant, createdMs, referrerTag, keyed }: KeyedSession,
): void {
  const session = sessionView(subId, tenant, createdMs, referrerTag, sessionTtlMs);
  const outcome = done({ session, replayed: true });
  if (idempotencyKeys.hasRoom()) idempotencyKeys.remember(keyed, createdMs, async () => outcome);
}

function sessionView(
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

/** Puts a session in the store and its record on the way; null when there is no room for one more. */
function openSession(
  { clock, subIds, sessions, ledger, devices, sessionTtlMs }: CreateSessionPorts,
  tenant: Tenant,
  keyNumber: number,
  { referrerTag, userAgent, metadata }: SessionRequest,
  keyed: KeyedRequestDigests | null,
): OpenedSession | null {
  const createdMs = clock.wallMs();
  const subId = subIds.issue(createdMs, tenant.account, tenant.vertical.number, tenant.mode);
  if (!sessions.add(subId, tenant)) return null;
  const device = devices.classify(userAgent);
  const record = [
    recordKind.sessionCreated,
    createdMs,
    subIds.issuedBytes,
    referrerTag,
    keyNumber,
    device,
    metadata,
  ] as const;
  const durable = ledger.append(keyed === null ? record : [...record, keyed.key, keyed.payload]);
  const view = sessionView(subId, tenant, createdMs, referrerTag, sessionTtlMs);
  return { subId, createdMs, view, position: ledger.appendedPosition, durable };
}

function hasTypedUserAgent(body: object): boolean {
  const { user_agent: userAgent } = body as { user_agent?: unknown };
  return userAgent === undefined || typeof userAgent === 'string';
}

/** Whether names and values keep to their sizes (D5); a value that is no string is measured by its JSON text. */
function isWithinBounds(metadata: object): boolean {
  const entries: [string, unknown][] = Object.entries(metadata);
  if (entries.length > bounds.metadataKeysMax) return false;
  return entries.every(([key, value]) => {
    const text = typeof value === 'string' ? value : JSON.stringify(value);
    return !isLongerThan(key, bounds.metadataCharactersMax) && !isLongerThan(text, bounds.metadataCharactersMax);
  });
}
