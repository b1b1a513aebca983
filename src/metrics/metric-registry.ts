import { Counter, Gauge, Histogram, type Metric, Registry } from 'prom-client';
import { bounds } from '../bounds.ts';
import type { BucketHistogram } from './histogram.ts';

/**
 * Returns the value of a promise. If the promise rejects or takes longer than `bounds.scrapeReadTimeoutMs`, calls `onMissing` with the error
 * and returns null.
 */
export async function awaitWithinScrapeTimeout<Value>(
  value: Promise<Value>,
  onMissing: (cause: unknown) => void = () => {},
): Promise<Value | null> {
  const timeout = Promise.withResolvers<never>();
  const timer = setTimeout(() => timeout.reject(new Error('timed out')), bounds.scrapeReadTimeoutMs);
  try {
    return await Promise.race([value, timeout.promise]);
  } catch (error) {
    onMissing(error);
    return null;
  } finally {
    clearTimeout(timer);
  }
}

/** Label that distinguishes the series of a histogram. `values` contains the label value of each series, in the order of the series. */
interface SeriesLabel {
  readonly label: string;
  readonly values: readonly string[];
}

function histogramSamples(name: string, histogram: BucketHistogram, series: SeriesLabel | null) {
  return (series?.values ?? [null]).flatMap((value, index) => {
    const labels = value === null ? {} : { [series!.label]: value };
    const { count, sum, buckets } = histogram.takeSnapshot(index);
    return [
      ...[...buckets, { end: '+Inf', count }].map((bucket) => ({
        metricName: `${name}_bucket`,
        labels: { ...labels, le: bucket.end },
        value: bucket.count,
      })),
      { metricName: `${name}_sum`, labels, value: sum },
      { metricName: `${name}_count`, labels, value: count },
    ];
  });
}

interface MetricSample {
  readonly labels: Readonly<Record<string, string | number>>;
  readonly value: number;
}

type MetricValue = number | readonly MetricSample[] | null;

/**
 * Reads the value of a metric: a number for a metric without labels, or its samples. Null means that the value is unknown, so the scrape
 * contains no sample of the metric.
 */
type ReadMetric = () => MetricValue | Promise<MetricValue>;

/** Metrics of one service. Each service of a process has its own registry. */
export class MetricRegistry {
  readonly #registry = new Registry();
  #onMissing: (cause: unknown) => void = () => {};

  readonly contentType = this.#registry.contentType;

  /** @param onMissing called for each metric whose value cannot be read, so that the text does not contain it */
  renderPrometheusText(onMissing: (cause: unknown) => void = () => {}): Promise<string> {
    // `collect` functions of prom-client have no parameters, so simultaneous scrapes use the function of the latest one.
    this.#onMissing = onMissing;
    return this.#registry.metrics();
  }

  /** Creates a prom-client counter. Incrementing a prom-client counter is slow, so prom-client counters are only for rare events. */
  createCounter(name: string, help: string, labelNames: readonly string[] = []): Counter {
    return new Counter({ name, help, labelNames, registers: [this.#registry] });
  }

  /** Registers a counter whose value `read` returns at each scrape. */
  registerCounter(name: string, help: string, read: ReadMetric, labelNames: readonly string[] = []): void {
    const add = ({ labels, value }: MetricSample) => counter.inc(labels, value);
    const collect = () => replaceSamples(counter, this.#readWithinTimeout(read), add, labelNames);
    const counter: Counter = new Counter({ name, help, labelNames, registers: [this.#registry], collect });
  }

  /** Registers a gauge whose value `read` returns at each scrape. */
  registerGauge(name: string, help: string, read: ReadMetric, labelNames: readonly string[] = []): void {
    const add = ({ labels, value }: MetricSample) => gauge.set(labels, value);
    const collect = () => replaceSamples(gauge, this.#readWithinTimeout(read), add, labelNames);
    const gauge: Gauge = new Gauge({ name, help, labelNames, registers: [this.#registry], collect });
  }

  #readWithinTimeout(read: ReadMetric): MetricValue | Promise<MetricValue> {
    const value = read();
    return value instanceof Promise ? awaitWithinScrapeTimeout(value, this.#onMissing) : value;
  }

  registerHistogram(name: string, help: string, histogram: BucketHistogram, series: SeriesLabel | null = null): void {
    const labelNames = series === null ? [] : [series.label];
    const published = new Histogram({ name, help, labelNames, registers: [this.#registry] });
    // prom-client calls `getForPromString` to render the metric.
    Object.assign(published, {
      getForPromString: async () => {
        const values = histogramSamples(name, histogram, series);
        return { name, help, type: 'histogram', values, aggregator: 'sum' };
      },
    });
  }
}

/**
 * Replaces the samples of a metric. The code after `reset` must not use `await`: two simultaneous scrapes could both add their samples and
 * double a counter.
 */
async function replaceSamples(
  metric: Metric,
  reading: MetricValue | Promise<MetricValue>,
  add: (sample: MetricSample) => void,
  labelNames: readonly string[],
): Promise<void> {
  const value = await reading;
  metric.reset();
  if (value === null) {
    // `reset` sets a metric without labels to 0, although its value is unknown. A metric with labels has no samples then.
    if (labelNames.length === 0) metric.remove();
  } else if (typeof value === 'number') add({ labels: {}, value });
  else for (const sample of value) add(sample);
}
