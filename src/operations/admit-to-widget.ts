import type { Clock } from '../domain/clock.ts';
import { succeeded, type Outcome, refused } from '../domain/outcome.ts';
import type { Session } from '../sessions/session.ts';

/** Charges a widget request to its session, whatever the outcome, and never to a key (docs/contract.md#widget-limits). */
export function checkWidgetRateLimit({ clock }: { readonly clock: Clock }, session: Session): Outcome<null> {
  const retryAfterSeconds = session.widgetUsage.admitRequest(clock.monotonicMs());
  return retryAfterSeconds === 0 ? succeeded(null) : refused({ code: 'RATE_LIMIT_EXCEEDED', retryAfterSeconds });
}
