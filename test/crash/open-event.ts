import type { ConfirmationRow } from './confirmation-row.ts';
import { type Figures, noFigures } from './figures.ts';
import type { Link } from './offer-link.ts';
import type { WidgetEvent, WidgetReport } from './widget-record.ts';

/** Offers shown, a click or a report that will count or a confirmation that will be accepted: a crash may still take it back. */
export interface OpenEvent {
  readonly adds: Figures;
  /** What was shown to click on, empty where that is not known; null for what shows nothing. */
  readonly links: readonly Link[] | null;
  /** Of a click, or of a confirmation that brings the click it is for. */
  readonly offerId: string | null;
  /** Infinity when no answer came. */
  readonly answeredAt: number;
  readonly confirmation: ConfirmationRow | null;
  /** The widget load whose view it is. */
  readonly load: string | null;
  readonly report: ReportInDoubt | null;
}

/** One that adds nothing and was not answered. */
export const noEvent: OpenEvent = {
  adds: noFigures,
  links: null,
  offerId: null,
  answeredAt: Number.POSITIVE_INFINITY,
  confirmation: null,
  load: null,
  report: null,
};

/** A widget's report that went unanswered, and those of its events that count if it is on record. */
export interface ReportInDoubt {
  readonly report: WidgetReport;
  readonly counted: readonly WidgetEvent[];
}
