import { Counter, Gauge, Histogram, type Metric, Registry } from 'prom-client';
import { bounds } from '../bounds.ts';
import type { BucketHistogram } from './histogram.ts';

/** Returns the resolved value, or null if the promise rejects or takes longer than `bounds.scrapeReadTimeoutMs`. */
export async function withinScrapeTimeout<Value>(value: Promise<Value>): Promise<Value | null> {
  const timeout = Promise.withResolvers<null>();
  const timer = setTimeout(() => timeout.resolve(null), bounds.scrapeReadTimeoutMs);
  try {
    return await Promise.race([value, timeout.promise]);
  } catch {
    return null;
  } finally {
    clearTimeout(timer);
  }
}

/** The label that distinguishes the series of a histogram. Its values have the same order as the series. */
interface SeriesLabel {
  readonly label: string;
  readonly values: readonly string[];
}

/** Publishes a `BucketHistogram` as a Prometheus histogram. */
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

  /** Returns the values for the Prometheus text. Overrides the method that the registry calls. */
  async getForPromString() {
    const values = (this.#series?.values ?? [null]).flatMap((value, index) => {
      const labels = value === null ? {} : { [this.#series!.label]: value };
      const { count, sum, buckets } = this.#histogram.snapshot(index);
      return [
        ...buckets.map(({ end, count: cumulative }) => ({
          metricName: `${this.#name}_bucket`,
          labels: { ...labels, le: end },
          value: cumulative,
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

/** Reads the value of a metric. Null means that the value is unknown, so the scrape contains no sample of the metric. */
type ReadMetric<Value> = () => Value | null | Promise<Value | null>;

/** Metrics of one service. Each service of a process has its own registry. */
export class MetricRegistry {
  readonly #registry = new Registry();

  readonly contentType = this.#registry.contentType;

  /** Returns all metrics in the Prometheus text format. */
  render(): Promise<string> {
    return this.#registry.metrics();
  }

  /** Creates a counter for rare events, because each increment is slow. */
  counter(name: string, help: string, labelNames: readonly string[] = []): Counter {
    return new Counter({ name, help, labelNames, registers: [this.#registry] });
  }

  /** Publishes a counter whose value is stored elsewhere. */
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

  histogramFrom(name: string, help: string, histogram: BucketHistogram, series: SeriesLabel | null = null): void {
    new PublishedHistogram(this.#registry, name, help, histogram, series);
  }
}

/**
 * Replaces the samples of a metric. The code after the call of `reset` is synchronous, because otherwise two simultaneous scrapes could
 * both add their samples to the same counter and double its value.
 */
async function replaceSamples(
  metric: Metric,
  read: ReadMetric<readonly Sample[]>,
  add: (sample: Sample) => void,
): Promise<void> {
  const value = read();
  const samples = value instanceof Promise ? await withinScrapeTimeout(value) : value;
  metric.reset();
  // `reset` adds a sample with value 0 to a metric without labels, so the metric without samples is removed.
  if (samples === null) metric.remove();
  else for (const sample of samples) add(sample);
}
