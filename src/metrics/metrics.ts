import { Counter, Gauge, Registry } from 'prom-client';

/** What the gauges show, asked for at each scrape. */
export interface MetricSources {
  readonly liveSessions: () => number;
  readonly requestsInFlight: () => number;
  readonly matchesWaiting: () => number;
  readonly offersAtDailyCap: () => number;
  readonly ledgerAppended: () => number;
  readonly ledgerDurable: () => number;
  readonly analyticsFolded: () => number;
  /** Records the analytics counters left out, by why; rejects while the aggregator cannot say. */
  readonly analyticsLeftOut: () => Promise<Readonly<Record<string, number>>>;
  readonly matcherFaults: () => number;
  readonly aggregatorRestarts: () => number;
  /** Of the public listener; null without TLS. */
  readonly certificate: { readonly secondsLeft: number; readonly faults: number } | null;
}

/**
 * The figures an operator watches, in a registry of its own: several services may run in one process. Only rare events
 * are counted one by one; what happens on every request is read from where it is kept when a scrape asks.
 */
export class Metrics {
  readonly #registry = new Registry();
  readonly #clicksUnrecorded = this.#counter(
    'marketplace_clicks_unrecorded_total',
    'Clicks redirected before their record was durable, or without one.',
  );
  readonly #viewsLost = this.#counter('marketplace_views_lost_total', 'Views answered that the ledger could not take.');
  readonly #sessionsMissing = this.#counter(
    'marketplace_sessions_missing_total',
    'Requests for a session that should be live and is in no store. Should stay at zero.',
  );
  readonly #widgetEvents = new Counter({
    name: 'marketplace_widget_events_total',
    help: 'Events that widgets told and the ledger took, by type.',
    labelNames: ['type'],
    registers: [this.#registry],
  });
  readonly #deadlines = this.#counter(
    'marketplace_deadlines_total',
    'Requests answered 503 because they took too long.',
  );
  readonly #faults = this.#counter('marketplace_faults_total', 'Requests answered 500.');

  constructor(sources: MetricSources) {
    this.#gauge(
      'marketplace_live_sessions',
      'Sessions held, expired ones not yet swept included.',
      sources.liveSessions,
    );
    this.#gauge('marketplace_requests_in_flight', 'Requests received and not yet answered.', sources.requestsInFlight);
    this.#gauge('marketplace_matches_waiting', 'Rankings waiting or under way.', sources.matchesWaiting);
    this.#gauge(
      'marketplace_offers_at_daily_cap',
      'Offers left out of answers until UTC midnight, of all catalogs in use.',
      sources.offersAtDailyCap,
    );
    this.#gauge('marketplace_ledger_appended_position', 'Records appended to the ledger.', sources.ledgerAppended);
    this.#gauge(
      'marketplace_ledger_durable_position',
      'Records of the ledger that are durable.',
      sources.ledgerDurable,
    );
    this.#gauge(
      'marketplace_analytics_folded_position',
      'Records the analytics counters hold.',
      sources.analyticsFolded,
    );
    this.#sum(
      'marketplace_matcher_faults_total',
      'Matching threads that died or could not start, and were replaced.',
      sources.matcherFaults,
    );
    this.#sum(
      'marketplace_aggregator_restarts_total',
      'Times that the aggregator died and was started again.',
      sources.aggregatorRestarts,
    );
    const { certificate } = sources;
    if (certificate !== null) {
      this.#gauge(
        'marketplace_certificate_expiry_seconds',
        'Seconds until the certificate in use expires; negative once it has.',
        () => certificate.secondsLeft,
      );
      this.#sum(
        'marketplace_certificate_faults_total',
        'Times that a new certificate or key was faulty, and the old one stayed in use.',
        () => certificate.faults,
      );
    }
    new Gauge({
      name: 'marketplace_analytics_left_out',
      help: 'Records of the ledger that counted nothing, by reason.',
      labelNames: ['reason'],
      registers: [this.#registry],
      async collect() {
        // The figures of the last scrape stay while the aggregator is being started again.
        const leftOut = await sources.analyticsLeftOut().catch(() => ({}));
        for (const [reason, records] of Object.entries(leftOut)) this.set({ reason }, records);
      },
    });
  }

  readonly clickUnrecorded = (): void => this.#clicksUnrecorded.inc();
  readonly viewLost = (): void => this.#viewsLost.inc();
  readonly widgetEvents = (types: readonly string[]): void => {
    for (const type of types) this.#widgetEvents.inc({ type });
  };
  readonly sessionMissing = (): void => this.#sessionsMissing.inc();
  readonly deadline = (): void => this.#deadlines.inc();
  readonly fault = (): void => this.#faults.inc();

  readonly contentType = this.#registry.contentType;

  /** All of it in the Prometheus text format. */
  render(): Promise<string> {
    return this.#registry.metrics();
  }

  #counter(name: string, help: string): Counter {
    return new Counter({ name, help, registers: [this.#registry] });
  }

  /** A counter that is kept elsewhere. */
  #sum(name: string, help: string, read: () => number): void {
    new Counter({
      name,
      help,
      registers: [this.#registry],
      collect() {
        this.reset();
        this.inc(read());
      },
    });
  }

  #gauge(name: string, help: string, read: () => number): void {
    new Gauge({
      name,
      help,
      registers: [this.#registry],
      collect() {
        this.set(read());
      },
    });
  }
}
