import { Histogram, type Registry } from 'prom-client';
import type { BucketHistogram } from './bucket-tally.ts';

/** The series of a tally, in its order, by the one label that tells them apart; a single series may do without. */
export interface SeriesLabel {
  readonly label: string;
  readonly values: readonly string[];
}

/** Publishes a tally as a Prometheus histogram, read when a scrape asks. */
export class PublishedHistogram extends Histogram {
  readonly #name: string;
  readonly #help: string;
  readonly #histogram: BucketHistogram;
  readonly #series: SeriesLabel | null;

  constructor(registry: Registry, name: string, help: string, histogram: BucketHistogram, series: SeriesLabel | null = null) {
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
