/** Latencies in microseconds, up to a minute, three figures exact. Histograms of one kind can be added up. */
export const latencyHistogramOptions = { lowest: 1, highest: 60_000_000, figures: 3 };
