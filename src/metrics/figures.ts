import { Counter, Gauge, type Metric, Registry } from 'prom-client';
import type { BucketHistogram } from './bucket-tally.ts';
import { withinScrapeTimeout } from './in-time.ts';
import { PublishedHistogram, type SeriesLabel } from './tallied-histogram.ts';

export interface Sample {
  readonly labels: Readonly<Record<string, string | number>>;
  readonly value: number;
}

/** Null while it cannot be told: then it has no sample. What is not there in time is not waited for. */
export type ReadMetric<Value> = () => Value | null | Promise<Value | null>;

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

  labeledGaugeFrom(name: string, help: string, labelNames: readonly string[], read: ReadMetric<readonly Sample[]>): void {
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
async function replaceSamples(metric: Metric, read: ReadMetric<readonly Sample[]>, put: (sample: Sample) => void): Promise<void> {
  const answer = read();
  const samples = answer instanceof Promise ? await withinScrapeTimeout(answer) : answer;
  metric.reset();
  // Without labels a reset one shows 0.
  if (samples === null) metric.remove();
  else for (const sample of samples) put(sample);
}
