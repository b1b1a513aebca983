import type { Clock } from '../domain/clock.ts';
import { failureOutcomeWithCode, type Outcome, successOutcome } from '../domain/outcome.ts';
import { isSameTenant, type Tenant } from '../domain/tenant.ts';
import { belongsToTenant, decodeSubId, type SubIdParts, type SubIds } from '../ids/sub-id.ts';
import type { Session } from './session.ts';
import type { SessionStore } from './session-store.ts';

interface ResolveSubIdDeps {
  readonly subIds: SubIds;
  readonly sessions: SessionStore;
}

export interface FindSessionDeps extends ResolveSubIdDeps {
  readonly clock: Clock;
  readonly sessionTtlMs: number;
  /** Called if a session is not in the store although its lifetime has not ended, so that operators can be alerted. */
  readonly onSessionMissing: () => void;
}

/** Result for a sub_id with a valid MAC: the session, which may have expired, or the decoded sub_id if the session is not in the store. */
type ResolvedSubId =
  | { readonly session: Session; readonly parts: null }
  | { readonly session: null; readonly parts: SubIdParts };

/** Finds the session of a sub_id; null for an invalid sub_id. If the store contains the session, the MAC of the sub_id is not checked. */
export function parseSubIdAndFindSession({ sessions, subIds }: ResolveSubIdDeps, subId: string): ResolvedSubId | null {
  const session = sessions.get(subId);
  if (session !== undefined) return { session, parts: null };
  const sub = subIds.verify(subId);
  return sub && { session: null, parts: decodeSubId(sub) };
}

/** Returns a live session, or the error SUB_ID_EXPIRED (docs/contract.md#unknown-and-expired-sessions). */
export function requireLiveSession(deps: FindSessionDeps, { session, parts }: ResolvedSubId): Outcome<Session> {
  const { createdMs } = session ?? parts;
  if (deps.clock.wallMs() >= createdMs + deps.sessionTtlMs) return failureOutcomeWithCode('SUB_ID_EXPIRED');
  if (session !== null) return successOutcome(session);
  deps.onSessionMissing();
  return failureOutcomeWithCode('SUB_ID_EXPIRED');
}

/** Finds a live session of the tenant. For a session of another tenant, the error is SUB_ID_NOT_FOUND. */
export function findSession(deps: FindSessionDeps, tenant: Tenant, subId: string): Outcome<Session> {
  const resolved = parseSubIdAndFindSession(deps, subId);
  if (resolved === null) return failureOutcomeWithCode('SUB_ID_NOT_FOUND');
  const { session, parts } = resolved;
  const isOwn = session === null ? belongsToTenant(parts, tenant) : isSameTenant(session.tenant, tenant);
  return isOwn ? requireLiveSession(deps, resolved) : failureOutcomeWithCode('SUB_ID_NOT_FOUND');
}
