import type { Clock } from '../domain/clock.ts';
import { failedWith, type Outcome, succeeded } from '../domain/outcome.ts';
import { decodeSubId, isOwnedBy, type SubIdParts, type SubIds } from '../ids/sub-id.ts';
import { isSameTenant, type Tenant } from '../verticals/tenant.ts';
import type { Session, SessionStore } from './session-store.ts';

interface ResolveSubIdDeps {
  readonly subIds: SubIds;
  readonly sessions: SessionStore;
}

export interface FindSessionDeps extends ResolveSubIdDeps {
  readonly clock: Clock;
  readonly sessionTtlMs: number;
  /** Called for a session that should be live but is not in the store. Operators should be alerted. */
  readonly onSessionMissing: () => void;
}

/** Result for an id with a valid MAC: the session, expired or not, or the decoded id if the store does not have the session. */
type ResolvedSubId =
  | { readonly session: Session; readonly parts: null }
  | { readonly session: null; readonly parts: SubIdParts };

/** Finds the session of an id. Returns null if this service did not issue the id. Checks the MAC only if the store has no such session. */
export function resolveSubId({ sessions, subIds }: ResolveSubIdDeps, subId: string): ResolvedSubId | null {
  const session = sessions.get(subId);
  if (session !== undefined) return { session, parts: null };
  const sub = subIds.verify(subId);
  return sub && { session: null, parts: decodeSubId(sub) };
}

/** Returns the session, or the error SUB_ID_EXPIRED (docs/contract.md#unknown-and-expired-sessions). */
export function requireLiveSession(deps: FindSessionDeps, { session, parts }: ResolvedSubId): Outcome<Session> {
  const { createdMs } = session ?? parts;
  if (deps.clock.wallMs() >= createdMs + deps.sessionTtlMs) return failedWith('SUB_ID_EXPIRED');
  if (session !== null) return succeeded(session);
  deps.onSessionMissing();
  return failedWith('SUB_ID_EXPIRED');
}

/** Finds a live session of the tenant. A sub_id of another tenant is reported as unknown. */
export function findSession(deps: FindSessionDeps, tenant: Tenant, subId: string): Outcome<Session> {
  const resolved = resolveSubId(deps, subId);
  if (resolved === null) return failedWith('SUB_ID_NOT_FOUND');
  const { session, parts } = resolved;
  const isOwn = session === null ? isOwnedBy(parts, tenant) : isSameTenant(session.tenant, tenant);
  return isOwn ? requireLiveSession(deps, resolved) : failedWith('SUB_ID_NOT_FOUND');
}
