import type { Clock } from '../domain/clock.ts';
import { type Outcome, refusedWith, succeeded } from '../domain/outcome.ts';
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
  /** Called for a session that should be live but is not in the store: an alert. */
  readonly onSessionMissing: () => void;
}

/** A genuine sub_id: its session, expired or not, or what the id says if the store does not have the session. */
type ResolvedSubId =
  | { readonly session: Session; readonly parts: null }
  | { readonly session: null; readonly parts: SubIdParts };

/** Returns null for an id that this service did not issue. The MAC is checked only if the store does not have the session. */
export function resolveSubId({ sessions, subIds }: ResolveSubIdDeps, subId: string): ResolvedSubId | null {
  const session = sessions.get(subId);
  if (session !== undefined) return { session, parts: null };
  const sub = subIds.verify(subId);
  return sub && { session: null, parts: decodeSubId(sub) };
}

/** Returns the session, or SUB_ID_EXPIRED (docs/contract.md#unknown-and-expired-sessions). */
export function requireLiveSession(deps: FindSessionDeps, { session, parts }: ResolvedSubId): Outcome<Session> {
  const { createdMs } = session ?? parts;
  if (deps.clock.wallMs() >= createdMs + deps.sessionTtlMs) return refusedWith('SUB_ID_EXPIRED');
  if (session !== null) return succeeded(session);
  deps.onSessionMissing();
  return refusedWith('SUB_ID_EXPIRED');
}

/** Returns the tenant's live session. A sub_id of another tenant is reported as unknown. */
export function findSession(deps: FindSessionDeps, tenant: Tenant, subId: string): Outcome<Session> {
  const resolved = resolveSubId(deps, subId);
  if (resolved === null) return refusedWith('SUB_ID_NOT_FOUND');
  const { session, parts } = resolved;
  const isOwn = session === null ? isOwnedBy(parts, tenant) : isSameTenant(session.tenant, tenant);
  return isOwn ? requireLiveSession(deps, resolved) : refusedWith('SUB_ID_NOT_FOUND');
}
