import type { Clock } from '../domain/clock.ts';
import { type Outcome, refused, refusedWith, succeeded } from '../domain/outcome.ts';
import { decodeSubId } from '../ids/sub-id.ts';
import type { WidgetTokens } from '../ids/widget-token.ts';
import { type FindSessionDeps, requireLiveSession, resolveSubId } from '../sessions/find-session.ts';
import type { Session } from '../sessions/session-store.ts';
import { createEmbedPolicy, type EmbedPolicy } from '../widgets/embed-policy.ts';

/** Charges a widget request to its session, whatever the outcome, and never to a key (docs/contract.md#widget-limits). */
export function checkWidgetRateLimit({ clock }: { readonly clock: Clock }, session: Session): Outcome<null> {
  const retryAfterSeconds = session.widgetUsage.admitRequest(clock.monotonicMs());
  return retryAfterSeconds === 0 ? succeeded(null) : refused({ code: 'RATE_LIMIT_EXCEEDED', retryAfterSeconds });
}

export interface VerifyWidgetLinkDeps extends FindSessionDeps {
  readonly tokens: WidgetTokens;
  /** Origins on whose pages an account lets its widgets be shown. */
  readonly originsOf: (account: number) => readonly string[];
  /** The origin of our own widget pages. */
  readonly ownOrigin: string;
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
  const resolved = resolveSubId(ports, sub);
  if (resolved === null) return null;
  const bytes = ports.subIds.toBytes(sub);
  const expiresMs = ports.tokens.verify(bytes, token);
  if (expiresMs === null) return null;
  const { account, mode } = decodeSubId(bytes);
  const policy = createEmbedPolicy(mode, ports.originsOf(account), ports.ownOrigin);
  const isExpired = ports.clock.wallMs() >= expiresMs;
  const session = isExpired ? refusedWith('SUB_ID_EXPIRED') : requireLiveSession(ports, resolved);
  return { policy, expiresMs, session };
}
