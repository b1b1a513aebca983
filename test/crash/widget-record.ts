import { type WidgetEventType, widgetEventTypes } from '../../src/ledger/ledger-record.ts';
import { type Figures, noFigures } from './figures.ts';

/** What a widget tells of itself (docs/contract.md#widget-events), in the words of the crash test. */
export interface WidgetEvent {
  readonly id: string;
  readonly type: WidgetEventType;
  readonly offerId: string | null;
}

/** Events that travel together. */
export interface WidgetReport {
  readonly load: string;
  readonly events: readonly WidgetEvent[];
}

/** Loads and reports kept to come again; older ones are forgotten, but not what of them counts. */
const kept = 4;

/** What is known on the caller's side of one session's widgets: it counts each load once, and each event. */
export class WidgetRecord {
  /** Opens the widget; null until somebody has asked for it. */
  token: string | null = null;
  readonly #viewed = new Set<string>();
  readonly #owed = new Set<string>();
  readonly #counted = new Map<string, WidgetEvent>();
  #loads: string[] = [];
  #reports: WidgetReport[] = [];

  /** Loads that have asked for offers or told something, the last of them. */
  get loads(): readonly string[] {
    return this.#loads;
  }

  /** The last reports sent, whatever became of them. */
  get reports(): readonly WidgetReport[] {
    return this.#reports;
  }

  /** Events that count while the server lives, in the order of telling. */
  get counted(): WidgetEvent[] {
    return [...this.#counted.values()];
  }

  /** A load asks for offers. Whether that is its view. */
  addLoad(load: string): boolean {
    this.#noteLoad(load);
    const isView = !this.#viewed.has(load);
    this.#viewed.add(load);
    this.#owed.delete(load);
    return isView;
  }

  /** A crash took the view back, so the load is owed one. */
  forgetView(load: string): void {
    this.#viewed.delete(load);
    this.#owed.add(load);
  }

  /** Whether a crash took the view of this load back, and nobody has asked again. */
  isOwedView(load: string): boolean {
    return this.#owed.has(load);
  }

  /** A report is sent. Which of its events count: those whose id nobody has told before. */
  addReport(report: WidgetReport): WidgetEvent[] {
    this.#noteLoad(report.load);
    this.#reports = [...this.#reports.filter((sent) => sent !== report), report].slice(-kept);
    return report.events.filter((event) => {
      if (this.#counted.has(event.id)) return false;
      this.#counted.set(event.id, event);
      return true;
    });
  }

  /** A crash took them back. */
  forgetEvents(events: readonly WidgetEvent[]): void {
    for (const { id } of events) this.#counted.delete(id);
  }

  #noteLoad(load: string): void {
    if (!this.#loads.includes(load)) this.#loads = [...this.#loads, load].slice(-kept);
  }
}

/** What these events add to the figures of their session. */
export function eventFigures(events: readonly WidgetEvent[]): Figures {
  const widgetEvents = widgetEventTypes.map((name) => events.filter(({ type }) => type === name).length);
  return { ...noFigures, widgetEvents };
}
