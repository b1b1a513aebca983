import { revenueChangeMicros, type ConfirmationRow, type IssuedClick, Payouts, type RowVerdict } from './confirmations.ts';
import { addFigures, type Figures, noFigures, sameFigures, expectedReport, type ReportedFigures } from './figures.ts';
import type { Link } from './personal-loans-rules.ts';
import { eventFigures, type WidgetEvent, WidgetRecord, type WidgetReport } from './widget-record.ts';
import { bounds } from '../../src/bounds.ts';
import type { Mode, SessionView } from '../../src/index.ts';
import type { Fields } from '../support/vertical-fixture.ts';

/** Offers shown, a click or a report that will count or a confirmation that will be accepted: a crash may still take it back. */
export interface UncertainEvent {
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
  readonly report: UncertainReport | null;
}

/** One that adds nothing and was not answered. */
export const noEvent: UncertainEvent = {
  adds: noFigures,
  links: null,
  offerId: null,
  answeredAt: Number.POSITIVE_INFINITY,
  confirmation: null,
  load: null,
  report: null,
};

/** A widget's report that went unanswered, and those of its events that count if it is on record. */
export interface UncertainReport {
  readonly report: WidgetReport;
  readonly counted: readonly WidgetEvent[];
}

/** Confirmations of one session that went unanswered, as a restart has left them. */
interface Doubt {
  /** In the order of sending. */
  readonly rows: readonly ConfirmationRow[];
  /** How many of them, from the first on, may have been booked by what the figures say: one number, unless some cancel out. */
  readonly booked: readonly number[];
}

const oneView: Figures = { ...noFigures, views: 1 };

/** Links kept to click on, and clicks to confirm; older ones are forgotten. */
const linksKept = 40;

/**
 * What is known on the caller's side of one session. Only one request for it is under way at a time (or the same one
 * twice), so its events stand in the ledger in the order in which they are noted here, and what a crash leaves of them is
 * a beginning of that order: never less than what was durable before its answer, or had something durable behind it.
 */
export class SessionRecord {
  readonly subId: string;
  readonly tag: string;
  readonly mode: Mode;
  readonly createdMs: number;
  fields: Fields = {};
  /** Sent, and what became of it is not known. */
  pendingMerge: Fields | null = null;
  /** A server that lives on has left a request open: nothing more is asked until a restart shows what became of it. */
  isFrozen = false;
  readonly widget = new WidgetRecord();
  #settled = noFigures;
  #settledLinks: Link[] = [];
  #lostLink: Link | null = null;
  #open: UncertainEvent[] = [];
  readonly #shown = new ShownOffers();
  /** Offers whose click counts. */
  readonly #counted = new Set<string>();
  readonly #payouts = new Payouts();
  #issued: IssuedClick[] = [];
  #doubt: Doubt | null = null;
  #reportsInDoubt: UncertainReport[] = [];

  constructor(view: Pick<SessionView, 'sub_id' | 'created_at'>, tag: string, mode: Mode) {
    this.subId = view.sub_id;
    this.createdMs = Date.parse(view.created_at);
    this.tag = tag;
    this.mode = mode;
  }

  get links(): Link[] {
    return [...this.#settledLinks, ...this.#open.flatMap(({ links }) => links ?? [])].slice(-linksKept);
  }

  /** On an offer that was shown in vain, since the last crash took back its only view: a click on it counts nothing. */
  get lostLink(): Link | null {
    return this.#lostLink;
  }

  /** All that was answered and all that was not: what it amounts to while the server lives. */
  get figures(): Figures {
    return this.#open.reduce((sum, { adds }) => addFigures(sum, adds), this.#settled);
  }

  /** Offers whose click counts, while the server lives. */
  get counted(): ReadonlySet<string> {
    return this.#counted;
  }

  get payouts(): Pick<Payouts, 'rows' | 'isReversed'> {
    return this.#payouts;
  }

  /** Clicks that got as far as a redirect, whether or not they count. */
  get issued(): readonly IssuedClick[] {
    return this.#issued;
  }

  /** An answer that showed offers; when none came, `answeredAt` is Infinity. Without links it is not known what it showed. */
  addView(links: readonly Link[], answeredAt: number): void {
    this.#open.push({ ...noEvent, adds: oneView, links, answeredAt });
  }

  /** The same of a widget's answer under a load. Whether it is the load's view; any other shows offers and counts nothing. */
  addWidgetResponse(load: string, links: readonly Link[], answeredAt: number): boolean {
    const isView = this.widget.addLoad(load);
    this.#open.push({ ...noEvent, adds: isView ? oneView : noFigures, links, answeredAt, load: isView ? load : null });
    return isView;
  }

  /** A widget's report is being sent. Returns what counts of it: open until it is answered and so durable (`markDurable`). */
  addReport(report: WidgetReport): readonly WidgetEvent[] {
    const counted = this.widget.addReport(report);
    if (counted.length > 0) this.#open.push({ ...noEvent, adds: eventFigures(counted), report: { report, counted } });
    return counted;
  }

  /** A redirect gave the lender a click_id, which may restore a click without a record (docs/contract.md#clicks-without-a-record). */
  addClickId({ offerId, micros }: Link, clickId: string): void {
    this.#issued.push({ offerId, clickId, micros });
    this.#issued = this.#issued.slice(-linksKept);
  }

  /**
   * A click on a link. `durable`: answered after its record (docs/contract.md#clicks-without-a-record); `late`: answered so slowly that
   * the redirect may not have waited for the record; `lost`: not answered. False for a repeat, which counts nothing.
   */
  addClick({ offerId, micros }: Link, outcome: 'durable' | 'late' | 'lost', answeredAt: number): boolean {
    if (this.#counted.has(offerId)) return false;
    this.#counted.add(offerId);
    this.#open.push({
      ...noEvent,
      adds: { ...noFigures, clicks: 1, attributedMicros: micros },
      offerId,
      answeredAt: outcome === 'lost' ? Number.POSITIVE_INFINITY : answeredAt,
    });
    if (outcome === 'durable') this.markDurable();
    return true;
  }

  /**
   * Outcome of a row (docs/contract.md#confirmation-rules) on a live server with all before booked. Null where that depends on what a view
   * showed whose answer never came.
   */
  verdictOn(row: ConfirmationRow): RowVerdict | null {
    if (row.spoilt !== null) return row.spoilt.reason;
    if (this.mode === 'test') return 'sandbox';
    const known = this.#payouts.verdictOnKnown(row);
    if (known !== null) return known;
    if (!this.#counted.has(row.offerId)) {
      if (row.issued === null) return 'click_unknown';
      const isShown = this.#hasShown(row.offerId);
      if (isShown !== true) return isShown === null ? null : 'click_unknown';
    }
    const fault = row.status === 'reversed' ? this.#payouts.faultOfReversal(row) : null;
    if (fault !== null) return fault;
    if (row.occurredMs < this.createdMs - bounds.confirmationClockSkewMs) return 'before_click';
    if (row.occurredMs > Date.now() + bounds.confirmationClockSkewMs) return 'in_future';
    return row.status === 'funded' && this.#payouts.isBeyondLimit(row) ? 'session_limit' : 'accepted';
  }

  /**
   * A row is being sent whose verdict is known; returns it. What it books is open until it is answered and so durable
   * (`markDurable`).
   */
  addConfirmation(row: ConfirmationRow): RowVerdict {
    const verdict = this.verdictOn(row);
    if (verdict === null) throw new Error('nobody knows what becomes of this row');
    if (verdict !== 'accepted') return verdict;
    const isRestored = !this.#counted.has(row.offerId);
    this.#counted.add(row.offerId);
    this.#payouts.book(row);
    this.#open.push({
      ...noEvent,
      adds: {
        ...noFigures,
        clicks: isRestored ? 1 : 0,
        attributedMicros: isRestored ? row.issued!.micros : 0,
        confirmedMicros: revenueChangeMicros(row),
      },
      offerId: isRestored ? row.offerId : null,
      confirmation: row,
    });
    return verdict;
  }

  /** The confirmations the last restart left in doubt, to be sent again: null when there are none, and from then on. */
  takeUncertainConfirmations(): Doubt | null {
    const doubt = this.#doubt;
    this.#doubt = null;
    return doubt;
  }

  /** The reports the last restart left in doubt, to be sent again: none from then on. */
  takeUncertainReports(): readonly UncertainReport[] {
    const reports = this.#reportsInDoubt;
    this.#reportsInDoubt = [];
    return reports;
  }

  /** Everything noted so far is known to be in the ledger. */
  markDurable(): void {
    this.#settle(this.#open.length);
  }

  /**
   * Takes what a restarted server says of the session, and forgets what did not survive.
   *
   * @param barrier everything answered before this moment was durable
   * @throws when the figures cannot have come from what was asked and answered
   */
  reconcile(found: ReportedFigures, barrier: number): void {
    const certain = this.#open.findLastIndex(({ answeredAt }) => answeredAt < barrier) + 1;
    let sum = this.#settled;
    const possible: ReportedFigures[] = [];
    const fitting: number[] = [];
    for (let survivors = 0; survivors <= this.#open.length; survivors++) {
      if (survivors > 0) sum = addFigures(sum, this.#open[survivors - 1]!.adds);
      if (survivors < certain) continue;
      const told = expectedReport(sum, 1);
      if (sameFigures(told, found)) fitting.push(survivors);
      else possible.push(told);
    }
    const [least] = fitting;
    if (least === undefined) {
      throw new Error(
        `${this.subId} (tag ${this.tag}) has ${JSON.stringify(found)}, where it may have ${JSON.stringify(possible)}`,
      );
    }
    this.#doubt = this.#doubtAbout(fitting);
    this.#reportsInDoubt = this.#open.flatMap(({ report }) => report ?? []);
    this.#settle(least, fitting.at(-1)!);
  }

  /**
   * Of several numbers of survivors that fit, only confirmations that cancel out lie between one and the next, and what a
   * widget showed after its view.
   */
  #doubtAbout(fitting: readonly number[]): Doubt | null {
    const rowsOf = (events: readonly UncertainEvent[]) => events.flatMap(({ confirmation }) => confirmation ?? []);
    const rows = rowsOf(this.#open);
    const booked = fitting.map((survivors) => rowsOf(this.#open.slice(0, survivors)).length);
    return rows.length === 0 ? null : { rows, booked };
  }

  #hasShown(offerId: string): boolean | null {
    const isOpen = this.#open.some(({ links }) => links?.some((link) => link.offerId === offerId));
    return isOpen || this.#shown.has(offerId);
  }

  /** @param possible as many of the open events may have survived, those behind the survivors without a trace in any figure */
  #settle(survivors: number, possible = survivors): void {
    const lost: Link[] = [];
    for (const [index, event] of this.#open.entries()) {
      const { adds, links, offerId, confirmation, load, report } = event;
      if (index < survivors) {
        this.#settled = addFigures(this.#settled, adds);
        this.#settledLinks.push(...(links ?? []));
        if (links !== null) this.#shown.add(links);
      } else {
        if (links !== null && index < possible) this.#shown.addPossible(links);
        lost.push(...(links ?? []));
        if (offerId !== null) this.#counted.delete(offerId);
        if (confirmation !== null) this.#payouts.forget(confirmation);
        if (load !== null) this.widget.forgetView(load);
        if (report !== null) this.widget.forgetEvents(report.counted);
      }
    }
    this.#settledLinks = this.#settledLinks.slice(-linksKept);
    this.#lostLink = lost.find((link) => this.#shown.has(link.offerId) === false) ?? null;
    this.#open = [];
  }
}

/** Which offers a session is known to have been shown, as far as a crash lets anybody know. */
export class ShownOffers {
  readonly #certain = new Set<string>();
  readonly #possible = new Set<string>();
  /** False from the first showing on whose answer never came. */
  #isWhole = true;

  /** A showing that the ledger has; without links it is not known what it showed. */
  add(links: readonly Link[]): void {
    for (const { offerId } of links) this.#certain.add(offerId);
    if (links.length === 0) this.#isWhole = false;
  }

  /** A showing that the ledger may have. */
  addPossible(links: readonly Link[]): void {
    for (const { offerId } of links) this.#possible.add(offerId);
    if (links.length === 0) this.#isWhole = false;
  }

  /** Null where nobody can know. */
  has(offerId: string): boolean | null {
    if (this.#certain.has(offerId)) return true;
    return this.#isWhole && !this.#possible.has(offerId) ? false : null;
  }
}
