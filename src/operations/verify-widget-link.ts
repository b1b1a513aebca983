import type { Clock } from '../domain/clock.ts';
import { failed, failedWith, type Outcome, succeeded } from '../domain/outcome.ts';
import { decodeSubId } from '../ids/sub-id.ts';
import type { WidgetTokens } from '../ids/widget-token.ts';
import { type FindSessionDeps, requireLiveSession, resolveSubId } from '../sessions/find-session.ts';
import type { Session } from '../sessions/session-store.ts';
import { createEmbedPolicy, type EmbedPolicy } from '../widgets/embed-policy.ts';

/** Counts a widget request, whatever its outcome, towards the limit of its session and not of a key (docs/contract.md#widget-limits). */
export function checkWidgetRateLimit({ clock }: { readonly clock: Clock }, session: Session): Outcome<null> {
  const retryAfterSeconds = session.widgetUsage.admitRequest(clock.monotonicMs());
  return retryAfterSeconds === 0 ? succeeded(null) : failed({ code: 'RATE_LIMIT_EXCEEDED', retryAfterSeconds });
}

export interface VerifyWidgetLinkDeps extends FindSessionDeps {
  readonly tokens: WidgetTokens;
  /** Returns the origins of the pages that may embed the widgets of an account. */
  readonly originsOf: (account: number) => readonly string[];
  /** Origin of the iframe page. */
  readonly ownOrigin: string;
}

interface WidgetCredentials {
  readonly sub: string;
  readonly token: string;
}

/** A verified link to a widget, whose session may have expired. */
export interface WidgetLink {
  readonly policy: EmbedPolicy;
  /** Expiry of the session and the token; milliseconds since the Unix epoch. */
  readonly expiresMs: number;
  /** The live session, or the error `SUB_ID_EXPIRED`. */
  readonly session: Outcome<Session>;
}

/** Verifies a widget link (docs/contract.md#widget-tokens). Returns null for an invalid link. No API key is needed or charged. */
export function verifyWidgetLink(deps: VerifyWidgetLinkDeps, { sub, token }: WidgetCredentials): WidgetLink | null {
  const resolved = resolveSubId(deps, sub);
  if (resolved === null) return null;
  const bytes = deps.subIds.toBytes(sub);
  const expiresMs = deps.tokens.verify(bytes, token);
  if (expiresMs === null) return null;
  const { account, mode } = decodeSubId(bytes);
  const policy = createEmbedPolicy(mode, deps.originsOf(account), deps.ownOrigin);
  const isExpired = deps.clock.wallMs() >= expiresMs;
  const session = isExpired ? failedWith('SUB_ID_EXPIRED') : requireLiveSession(deps, resolved);
  return { policy, expiresMs, session };
}
