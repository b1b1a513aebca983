import type { Clock } from '../domain/clock.ts';
import { type Outcome, refused, refusedWith, succeeded } from '../domain/outcome.ts';
import { decodeSubId, type SubIds } from '../ids/sub-id.ts';
import type { WidgetTokens } from '../ids/widget-token.ts';
import type { Session, SessionStore } from '../sessions/session-store.ts';
import { createEmbedPolicy, type EmbedPolicy } from '../widgets/embed-policy.ts';

/** Charges a widget request to its session, whatever the outcome, and never to a key (docs/contract.md#widget-limits). */
export function checkWidgetRateLimit({ clock }: { readonly clock: Clock }, session: Session): Outcome<null> {
  const retryAfterSeconds = session.widgetUsage.admitRequest(clock.monotonicMs());
  return retryAfterSeconds === 0 ? succeeded(null) : refused({ code: 'RATE_LIMIT_EXCEEDED', retryAfterSeconds });
}

export interface VerifyWidgetLinkDeps {
  readonly clock: Clock;
  readonly subIds: SubIds;
  readonly sessions: SessionStore;
  readonly tokens: WidgetTokens;
  /** Origins whose pages may show the widgets of an account. */
  readonly originsOf: (account: number) => readonly string[];
  /** Origin of the iframe's page. */
  readonly ownOrigin: string;
  /** Called for a session that should be live but is not in the store. Raises an alert (docs/contract.md#unknown-and-expired-sessions). */
  readonly onSessionMissing: () => void;
}

interface WidgetCredentials {
  readonly sub: string;
  readonly token: string;
}

/** A verified link to a widget, whose session may have expired. */
export interface WidgetLink {
  readonly policy: EmbedPolicy;
  /** When session and token expire, as wall time. */
  readonly expiresMs: number;
  /** The live session, or `SUB_ID_EXPIRED`. */
  readonly session: Outcome<Session>;
}

/** Verifies a widget's link (docs/contract.md#widget-tokens); null for an invalid one. No API key is needed or charged. */
export function verifyWidgetLink(deps: VerifyWidgetLinkDeps, { sub, token }: WidgetCredentials): WidgetLink | null {
  const liveSession = deps.sessions.get(sub);
  // A session in the store needs no MAC check.
  const bytes = liveSession === undefined ? deps.subIds.verify(sub) : deps.subIds.toBytes(sub);
  const expiresMs = bytes === null ? null : deps.tokens.verify(bytes, token);
  if (bytes === null || expiresMs === null) return null;
  const { account, mode } = decodeSubId(bytes);
  const policy = createEmbedPolicy(mode, deps.originsOf(account), deps.ownOrigin);
  const isExpired = deps.clock.wallMs() >= expiresMs;
  if (liveSession === undefined && !isExpired) deps.onSessionMissing();
  const session = liveSession === undefined || isExpired ? refusedWith('SUB_ID_EXPIRED') : succeeded(liveSession);
  return { policy, expiresMs, session };
}
