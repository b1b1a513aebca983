import { Counter, Gauge, Histogram, type Metric, Registry } from 'prom-client';
import { bounds } from '../bounds.ts';
import type { BucketHistogram } from './histogram.ts';

/** What a figure comes to; null where it fails or is not there in time, since no scrape may wait for what is in trouble. */
export async function withinScrapeTimeout<Value>(figure: Promise<Value>): Promise<Value | null> {
  const late = Promise.withResolvers<null>();
  const timer = setTimeout(() => late.resolve(null), bounds.scrapeReadTimeoutMs);
  try {
    return await Promise.race([figure, late.promise]);
  } catch {
    return null;
  } finally {
    clearTimeout(timer);
  }
}

/** The series of a tally, in its order, by the one label that tells them apart; a single series may do without. */
interface SeriesLabel {
  readonly label: string;
  readonly values: readonly string[];
}

/** Publishes a tally as a Prometheus histogram, read when a scrape asks. */
class PublishedHistogram extends Histogram {
  readonly #name: string;
  readonly #help: string;
  readonly #histogram: BucketHistogram;
  readonly #series: SeriesLabel | null;

  constructor(
    registry: Registry,
    name: string,
    help: string,
    histogram: BucketHistogram,
    series: SeriesLabel | null = null,
  ) {
    super({ name, help, labelNames: series === null ? [] : [series.label], registers: [registry] });
    this.#name = name;
    this.#help = help;
    this.#histogram = histogram;
    this.#series = series;
  }

  /** What the registry asks of a histogram; the library's own answers what was observed through the library. */
  async getForPromString() {
    const values = (this.#series?.values ?? [null]).flatMap((value, at) => {
      const labels = value === null ? {} : { [this.#series!.label]: value };
      const { count, sum, buckets } = this.#histogram.snapshot(at);
      return [
        ...buckets.map(({ end, count: below }) => ({
          metricName: `${this.#name}_bucket`,
          labels: { ...labels, le: end },
          value: below,
        })),
        { metricName: `${this.#name}_bucket`, labels: { ...labels, le: '+Inf' }, value: count },
        { metricName: `${this.#name}_sum`, labels, value: sum },
        { metricName: `${this.#name}_count`, labels, value: count },
      ];
    });
    return { name: this.#name, help: this.#help, type: 'histogram', values, aggregator: 'sum' };
  }
}

export interface Sample {
  readonly labels: Readonly<Record<string, string | number>>;
  readonly value: number;
}

/** Null while it cannot be told: then it has no sample. What is not there in time is not waited for. */
type ReadMetric<Value> = () => Value | null | Promise<Value | null>;

/** The figures of one service, in a registry of their own: several services may run in one process. */
export class MetricRegistry {
  readonly #registry = new Registry();

  readonly contentType = this.#registry.contentType;

  /** All of them in the Prometheus text format. */
  render(): Promise<string> {
    return this.#registry.metrics();
  }

  /** Counts events as they happen: rare ones, since the library takes its time over each. */
  counter(name: string, help: string, labelNames: readonly string[] = []): Counter {
    return new Counter({ name, help, labelNames, registers: [this.#registry] });
  }

  /** A counter that is kept elsewhere. */
  counterFrom(name: string, help: string, labelNames: readonly string[], read: ReadMetric<readonly Sample[]>): void {
    new Counter({
      name,
      help,
      labelNames,
      registers: [this.#registry],
      collect() {
        return replaceSamples(this, read, ({ labels, value }) => this.inc(labels, value));
      },
    });
  }

  gaugeFrom(name: string, help: string, read: ReadMetric<number>): void {
    const asSamples = (value: number | null) => (value === null ? null : [{ labels: {}, value }]);
    this.labeledGaugeFrom(name, help, [], () => {
      const value = read();
      return value instanceof Promise ? value.then(asSamples) : asSamples(value);
    });
  }

  labeledGaugeFrom(
    name: string,
    help: string,
    labelNames: readonly string[],
    read: ReadMetric<readonly Sample[]>,
  ): void {
    new Gauge({
      name,
      help,
      labelNames,
      registers: [this.#registry],
      collect() {
        return replaceSamples(this, read, ({ labels, value }) => this.set(labels, value));
      },
    });
  }

  /** A histogram that is counted elsewhere. */
  histogramFrom(name: string, help: string, tally: BucketHistogram, series: SeriesLabel | null = null): void {
    new PublishedHistogram(this.#registry, name, help, tally, series);
  }
}

/**
 * Has a metric show these samples and no others. Between emptying it and the last of them nothing else may run: another scrape
 * may be at the same, and a counter filled by both would show double.
 */
async function replaceSamples(
  metric: Metric,
  read: ReadMetric<readonly Sample[]>,
  put: (sample: Sample) => void,
): Promise<void> {
  const answer = read();
  const samples = answer instanceof Promise ? await withinScrapeTimeout(answer) : answer;
  metric.reset();
  // Without labels a reset one shows 0.
  if (samples === null) metric.remove();
  else for (const sample of samples) put(sample);
}
