import type { Session } from './session.ts';
import { WidgetUse } from './widget-use.ts';

/** What a session remembers of its widgets, from now on. */
export function widgetUseOf(session: Session): WidgetUse {
  session.widget ??= new WidgetUse();
  return session.widget;
}
