import { isDeepStrictEqual } from 'node:util';
import { bounds } from '../../src/bounds.ts';
import type { ApiKeyMode, SessionResponse } from '../../src/index.ts';
import type { Fields } from '../support/vertical-fixture.ts';
import {
  type ConfirmationRow,
  type IssuedClick,
  Payouts,
  type RowVerdict,
  revenueChangeMicros,
} from './confirmations.ts';
import { addFigures, expectedReport, type Figures, noFigures, type ReportedFigures } from './figures.ts';
import type { Link } from './personal-loans-rules.ts';
import { eventFigures, type WidgetEvent, WidgetRecord, type WidgetReport } from './widget-record.ts';

/** A request that changes the ledger, and that a crash may lose. */
interface UncertainEvent {
  readonly adds: Figures;
  /** Links of the shown offers, empty if they are unknown; absent if no offers were shown. */
  readonly links?: readonly Link[];
  /** Offer whose click the event counts. */
  readonly offerId?: string | undefined;
  /** Moment of the answer; infinity without an answer. */
  readonly answeredAt: number;
  readonly confirmation?: ConfirmationRow;
  /** Widget load whose view is counted. */
  readonly load?: string | undefined;
  readonly report?: UncertainReport;
}

/** A widget report without an answer, and its events that count if the ledger has the report. */
interface UncertainReport {
  readonly report: WidgetReport;
  readonly counted: readonly WidgetEvent[];
}

/** Confirmations without an answer, in the order of sending. */
interface UncertainConfirmations {
  readonly rows: readonly ConfirmationRow[];
  /** Possible numbers of booked rows, counted from the first row. More than one number only if rows cancel each other out. */
  readonly booked: readonly number[];
}

const oneView: Figures = { ...noFigures, views: 1 };

/** Number of links and of clicks that later requests may use. */
const linksMax = 40;

/**
 * Expected state of one session. Only one request, or two equal requests, of a session are pending at a time, so its ledger records have
 * the order of the events here. A crash may lose the last events, except those that were durable before their answer, and except all
 * events before a durable event.
 */
export class SessionRecord {
  readonly subId: string;
  readonly tag: string;
  readonly mode: ApiKeyMode;
  readonly createdMs: number;
  fields: Fields = {};
  /** Field changes whose request was not answered. */
  pendingMerge: Fields | null = null;
  /** Whether a running server did not answer a request. The session is then not used before the next restart. */
  isFrozen = false;
  readonly widget = new WidgetRecord();
  /** Offers whose click counts. */
  readonly counted = new Set<string>();
  readonly payouts = new Payouts();
  /** Clicks that were redirected, whether or not they count. */
  issued: readonly IssuedClick[] = [];
  /** Link to an offer that was shown only in a view that a crash lost. A click on it does not count. */
  lostLink: Link | null = null;
  #durableFigures = noFigures;
  #durableLinks: readonly Link[] = [];
  #uncertain: UncertainEvent[] = [];
  readonly #shownOffers = new Set<string>();
  readonly #possiblyShownOffers = new Set<string>();
  /** Whether all views since the start were answered. */
  #knowsAllViews = true;
  #uncertainConfirmations: UncertainConfirmations | null = null;
  #uncertainReports: readonly UncertainReport[] = [];

  constructor(view: Pick<SessionResponse, 'sub_id' | 'created_at'>, tag: string, mode: ApiKeyMode) {
    this.subId = view.sub_id;
    this.createdMs = Date.parse(view.created_at);
    this.tag = tag;
    this.mode = mode;
  }

  get links(): Link[] {
    return [...this.#durableLinks, ...this.#uncertain.flatMap(({ links }) => links ?? [])].slice(-linksMax);
  }

  /** Figures including all uncertain events. */
  get figures(): Figures {
    return this.#uncertain.reduce((sum, { adds }) => addFigures(sum, adds), this.#durableFigures);
  }

  /** Adds a view. Without an answer, `links` is empty and `answeredAt` is infinity. */
  addView(links: readonly Link[], answeredAt: number): void {
    this.#add({ adds: oneView, links, answeredAt });
  }

  /** Adds an answer to a widget load. Returns whether it is the view of the load. Other answers show offers and count nothing. */
  addWidgetResponse(load: string, links: readonly Link[], answeredAt: number): boolean {
    const isView = this.widget.addLoad(load);
    this.#add({ adds: isView ? oneView : noFigures, links, answeredAt, load: isView ? load : undefined });
    return isView;
  }

  /** Adds a widget report that is sent. Returns its events that count. */
  addReport(report: WidgetReport): readonly WidgetEvent[] {
    const counted = this.widget.addReport(report);
    if (counted.length > 0) this.#add({ adds: eventFigures(counted), report: { report, counted } });
    return counted;
  }

  /** Adds a click_id, which may restore a click without a record (docs/contract.md#clicks-without-a-record). */
  addClickId({ offerId, micros }: Link, clickId: string): void {
    this.issued = [...this.issued, { offerId, clickId, micros }].slice(-linksMax);
  }

  /**
   * Adds a click. `durable`: answered after its record was durable. `late`: answered so late that the record may not be durable
   * (docs/contract.md#clicks-without-a-record). `lost`: not answered. Returns false for a repeated click, which does not count.
   */
  addClick({ offerId, micros }: Link, outcome: 'durable' | 'late' | 'lost', answeredAt: number): boolean {
    if (this.counted.has(offerId)) return false;
    this.counted.add(offerId);
    this.#add({
      adds: { ...noFigures, clicks: 1, attributedMicros: micros },
      offerId,
      answeredAt: outcome === 'lost' ? Number.POSITIVE_INFINITY : answeredAt,
    });
    if (outcome === 'durable') this.markDurable();
    return true;
  }

  /**
   * Returns the expected outcome of a row (docs/contract.md#confirmation-rules), or null if it depends on the offers of a view that was
   * not answered.
   */
  verdictOn(row: ConfirmationRow): RowVerdict | null {
    if (row.spoilt !== null) return row.spoilt.reason;
    if (this.mode === 'test') return 'sandbox';
    const known = this.payouts.verdictOnKnown(row);
    if (known !== null) return known;
    if (!this.counted.has(row.offerId)) {
      if (row.issued === null) return 'click_unknown';
      const wasShown = this.#wasShown(row.offerId);
      if (wasShown !== true) return wasShown === null ? null : 'click_unknown';
    }
    const error = row.status === 'reversed' ? this.payouts.reversalError(row) : null;
    if (error !== null) return error;
    if (row.occurredMs < this.createdMs - bounds.confirmationClockSkewMs) return 'before_click';
    if (row.occurredMs > Date.now() + bounds.confirmationClockSkewMs) return 'in_future';
    return row.status === 'funded' && this.payouts.isBeyondLimit(row) ? 'session_limit' : 'accepted';
  }

  /** Adds a row that is sent. Returns its outcome, which must be predictable. */
  addConfirmation(row: ConfirmationRow): RowVerdict {
    const verdict = this.verdictOn(row);
    if (verdict === null) throw new Error('the outcome of the row cannot be predicted');
    if (verdict !== 'accepted') return verdict;
    const isRestored = !this.counted.has(row.offerId);
    this.counted.add(row.offerId);
    this.payouts.book(row);
    const restored = isRestored ? { clicks: 1, attributedMicros: row.issued!.micros } : {};
    this.#add({
      adds: { ...noFigures, ...restored, confirmedMicros: revenueChangeMicros(row) },
      offerId: isRestored ? row.offerId : undefined,
      confirmation: row,
    });
    return verdict;
  }

  /** Returns and removes the confirmations whose outcome is unknown after the last restart. */
  takeUncertainConfirmations(): UncertainConfirmations | null {
    const confirmations = this.#uncertainConfirmations;
    this.#uncertainConfirmations = null;
    return confirmations;
  }

  /** Returns and removes the reports whose outcome is unknown after the last restart. */
  takeUncertainReports(): readonly UncertainReport[] {
    const reports = this.#uncertainReports;
    this.#uncertainReports = [];
    return reports;
  }

  /** Marks all events as durable. */
  markDurable(): void {
    this.#keepEvents(this.#uncertain.length);
  }

  /**
   * Adopts the figures that a restarted server reports, and removes the lost events. Throws if the figures are impossible.
   *
   * @param durableBefore everything that was answered before this moment is durable
   */
  reconcile(found: ReportedFigures, durableBefore: number): void {
    const certain = this.#uncertain.findLastIndex(({ answeredAt }) => answeredAt < durableBefore) + 1;
    let sum = this.#durableFigures;
    const possible: ReportedFigures[] = [];
    const fitting: number[] = [];
    for (let survivors = 0; survivors <= this.#uncertain.length; survivors++) {
      if (survivors > 0) sum = addFigures(sum, this.#uncertain[survivors - 1]!.adds);
      if (survivors < certain) continue;
      const report = expectedReport(sum, 1);
      if (isDeepStrictEqual(report, found)) fitting.push(survivors);
      else possible.push(report);
    }
    const [least] = fitting;
    if (least === undefined) {
      throw new Error(
        `${this.subId} (tag ${this.tag}) has ${JSON.stringify(found)} instead of one of ${JSON.stringify(possible)}`,
      );
    }
    // Several numbers of survivors fit if confirmations cancel each other out, or if a widget showed offers after its view.
    const rowsOf = (events: readonly UncertainEvent[]) => events.flatMap(({ confirmation }) => confirmation ?? []);
    const rows = rowsOf(this.#uncertain);
    const booked = fitting.map((survivors) => rowsOf(this.#uncertain.slice(0, survivors)).length);
    this.#uncertainConfirmations = rows.length === 0 ? null : { rows, booked };
    this.#uncertainReports = this.#uncertain.flatMap(({ report }) => report ?? []);
    this.#keepEvents(least, fitting.at(-1)!);
  }

  #add(event: Omit<UncertainEvent, 'answeredAt'> & Partial<UncertainEvent>): void {
    this.#uncertain.push({ answeredAt: Number.POSITIVE_INFINITY, ...event });
  }

  /** Whether an offer was shown; null if this cannot be known. */
  #wasShown(offerId: string): boolean | null {
    const isUncertain = this.#uncertain.some(({ links }) => links?.some((link) => link.offerId === offerId));
    if (isUncertain || this.#shownOffers.has(offerId)) return true;
    return this.#knowsAllViews && !this.#possiblyShownOffers.has(offerId) ? false : null;
  }

  #addShown(offers: Set<string>, links: readonly Link[]): void {
    for (const { offerId } of links) offers.add(offerId);
    if (links.length === 0) this.#knowsAllViews = false;
  }

  /** Keeps the first events as durable and removes the others. Events up to `possible` may have survived without a figure. */
  #keepEvents(survivors: number, possible = survivors): void {
    const lost: Link[] = [];
    const events = this.#uncertain;
    this.#uncertain = [];
    for (const [index, { adds, links, offerId, confirmation, load, report }] of events.entries()) {
      if (index < survivors) {
        this.#durableFigures = addFigures(this.#durableFigures, adds);
        this.#durableLinks = [...this.#durableLinks, ...(links ?? [])].slice(-linksMax);
        if (links !== undefined) this.#addShown(this.#shownOffers, links);
      } else {
        if (links !== undefined && index < possible) this.#addShown(this.#possiblyShownOffers, links);
        lost.push(...(links ?? []));
        if (offerId !== undefined) this.counted.delete(offerId);
        if (confirmation !== undefined) this.payouts.forget(confirmation);
        if (load !== undefined) this.widget.forgetView(load);
        if (report !== undefined) this.widget.forgetEvents(report.counted);
      }
    }
    this.lostLink = lost.find((link) => this.#wasShown(link.offerId) === false) ?? null;
  }
}
