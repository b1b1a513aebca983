import type { Clock } from '../domain/clock.ts';
import { done, type Outcome, refused } from '../domain/outcome.ts';
import type { Session } from '../sessions/session.ts';

/** Charges a widget request to its session, whatever the outcome, and never to a key (docs/contract.md#widget-limits). */
export function admitToWidget({ clock }: { readonly clock: Clock }, session: Session): Outcome<null> {
  const retryAfterSeconds = session.widget.admit(clock.monotonicMs());
  return retryAfterSeconds === 0 ? done(null) : refused({ code: 'RATE_LIMIT_EXCEEDED', retryAfterSeconds });
}
