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
  /** Origins on whose pages an account lets its widgets be shown. */
  readonly originsOf: (account: number) => readonly string[];
  /** The origin of our own widget pages. */
  readonly ownOrigin: string;
  /** A session that should be live is in no store: an alert (docs/contract.md#unknown-and-expired-sessions). */
  readonly onSessionMissing: () => void;
}

/** What a widget shows who it is by. */
interface WidgetCredentials {
  readonly sub: string;
  readonly token: string;
}

/** A genuine link to a widget, its session over or not. */
export interface WidgetLink {
  /** Where the session's account lets its widgets be shown. */
  readonly policy: EmbedPolicy;
  /** When session and token end, as wall time. */
  readonly expiresMs: number;
  /** The live session, or the refusal that tells it is over. */
  readonly session: Outcome<Session>;
}

/** Checks a widget's link (docs/contract.md#widget-tokens); null for one that we did not make. No API key is needed or charged. */
export function verifyWidgetLink(ports: VerifyWidgetLinkDeps, { sub, token }: WidgetCredentials): WidgetLink | null {
  const held = ports.sessions.get(sub);
  // A session in the store is genuine; any other id has its MAC to prove it.
  const bytes = held === undefined ? ports.subIds.verify(sub) : ports.subIds.toBytes(sub);
  const expiresMs = bytes === null ? null : ports.tokens.verify(bytes, token);
  if (bytes === null || expiresMs === null) return null;
  const { account, mode } = decodeSubId(bytes);
  const policy = createEmbedPolicy(mode, ports.originsOf(account), ports.ownOrigin);
  const isOver = ports.clock.wallMs() >= expiresMs;
  if (held === undefined && !isOver) ports.onSessionMissing();
  const session = held === undefined || isOver ? refusedWith('SUB_ID_EXPIRED') : succeeded(held);
  return { policy, expiresMs, session };
}
