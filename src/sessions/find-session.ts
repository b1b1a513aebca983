import type { Clock } from '../domain/clock.ts';
import { type Outcome, refusedWith } from '../domain/outcome.ts';
import { decodeSubId, isOwnedBy, type SubIds } from '../ids/sub-id.ts';
import { isSameTenant, type Tenant } from '../verticals/tenant.ts';
import type { Session, SessionStore } from './session-store.ts';

export interface FindSessionDeps {
  readonly clock: Clock;
  readonly subIds: SubIds;
  readonly sessions: SessionStore;
  readonly sessionTtlMs: number;
  /** A session that should be live is in no store: an alert (docs/contract.md#unknown-and-expired-sessions). */
  readonly onSessionMissing: () => void;
}

/**
 * The live session of a sub_id. To other tenants the id is unknown (docs/contract.md#unknown-and-expired-sessions).
 *
 * A session in the store is genuine, so the usual case costs one look-up and no MAC; the MAC decides what is said of an id
 * that is not there.
 */
export function findSession(ports: FindSessionDeps, tenant: Tenant, subId: string): Outcome<Session> {
  const nowMs = ports.clock.wallMs();
  const session = ports.sessions.get(subId);
  if (session !== undefined) {
    if (!isSameTenant(session.tenant, tenant)) return refusedWith('SUB_ID_NOT_FOUND');
    if (nowMs >= session.createdMs + ports.sessionTtlMs) return refusedWith('SUB_ID_EXPIRED');
    return { ok: true, value: session };
  }
  const bytes = ports.subIds.verify(subId);
  if (bytes === null) return refusedWith('SUB_ID_NOT_FOUND');
  const parts = decodeSubId(bytes);
  if (!isOwnedBy(parts, tenant)) return refusedWith('SUB_ID_NOT_FOUND');
  if (nowMs < parts.createdMs + ports.sessionTtlMs) ports.onSessionMissing();
  return refusedWith('SUB_ID_EXPIRED');
}
