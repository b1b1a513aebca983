import { type WidgetEventType, widgetEventTypes } from '../../src/ledger/ledger-record.ts';
import { type Figures, noFigures } from './figures.ts';

/** Event that a widget reports (docs/contract.md#widget-events). */
export interface WidgetEvent {
  readonly id: string;
  readonly type: WidgetEventType;
  readonly offerId: string | null;
}

/** Events in one request. */
export interface WidgetReport {
  readonly load: string;
  readonly events: readonly WidgetEvent[];
}

/** Number of loads and reports that may be repeated. */
const repeatableMax = 4;

/** Expected state of one session's widgets. Each load has one view, and each event counts once. */
export class WidgetRecord {
  /** Token of the widget; null until it was requested. */
  token: string | null = null;
  /** The last loads with a request. */
  loads: readonly string[] = [];
  /** The last reports that were sent. */
  reports: readonly WidgetReport[] = [];
  readonly #viewedLoads = new Set<string>();
  readonly #lostViews = new Set<string>();
  readonly #counted = new Map<string, WidgetEvent>();

  /** Events that count. */
  get counted(): WidgetEvent[] {
    return [...this.#counted.values()];
  }

  /** Records a request for offers. Returns whether the request is the view of its load. */
  addLoad(load: string): boolean {
    this.#rememberLoad(load);
    const isView = !this.#viewedLoads.has(load);
    this.#viewedLoads.add(load);
    this.#lostViews.delete(load);
    return isView;
  }

  /** Records that a crash lost the view of a load. */
  forgetView(load: string): void {
    this.#viewedLoads.delete(load);
    this.#lostViews.add(load);
  }

  /** Whether a crash lost the view of a load that was not repeated since. */
  isViewLost(load: string): boolean {
    return this.#lostViews.has(load);
  }

  /** Records a report. Returns the events that count, which are those with a new id. */
  addReport(report: WidgetReport): WidgetEvent[] {
    this.#rememberLoad(report.load);
    this.reports = [...this.reports.filter((sent) => sent !== report), report].slice(-repeatableMax);
    return report.events.filter((event) => {
      const isNew = !this.#counted.has(event.id);
      if (isNew) this.#counted.set(event.id, event);
      return isNew;
    });
  }

  /** Records that a crash lost events. */
  forgetEvents(events: readonly WidgetEvent[]): void {
    for (const { id } of events) this.#counted.delete(id);
  }

  #rememberLoad(load: string): void {
    if (!this.loads.includes(load)) this.loads = [...this.loads, load].slice(-repeatableMax);
  }
}

export function eventFigures(events: readonly WidgetEvent[]): Figures {
  const widgetEvents = widgetEventTypes.map((name) => events.filter(({ type }) => type === name).length);
  return { ...noFigures, widgetEvents };
}
