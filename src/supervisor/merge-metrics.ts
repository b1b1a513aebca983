/** Lines of one metric in the Prometheus text format. */
interface MetricLines {
  /** Lines `# HELP` and `# TYPE`. */
  readonly head: readonly string[];
  readonly samples: string[];
}

/**
 * Merges the metrics of several shards, each in the Prometheus text format. Each sample gets the label `shard`, and the lines of a metric
 * stay together.
 */
export function mergeMetrics(texts: readonly { readonly shard: number; readonly text: string }[]): string {
  const metrics = new Map<string, MetricLines>();
  for (const { shard, text } of texts) {
    let head: string[] = [];
    let current: MetricLines | null = null;
    for (const line of text.split('\n')) {
      if (line.startsWith('# HELP ')) head = [];
      if (line.startsWith('#')) head.push(line);
      if (line.startsWith('# TYPE ')) {
        const name = line.split(' ', 3)[2]!;
        current = metrics.get(name) ?? { head, samples: [] };
        metrics.set(name, current);
      } else if (line !== '' && !line.startsWith('#')) current?.samples.push(addShardLabel(line, shard));
    }
  }
  return [...metrics.values()]
    .filter(({ samples }) => samples.length > 0)
    .map(({ head, samples }) => `${[...head, ...samples].join('\n')}\n`)
    .join('\n');
}

/** A value of a label may contain spaces and braces, but the name before the first brace or space has neither. */
function addShardLabel(sample: string, shard: number): string {
  const end = sample.search(/[ {]/);
  const labels = sample[end] === '{' ? sample.slice(end + 1) : `}${sample.slice(end)}`;
  const separator = labels.startsWith('}') ? '' : ',';
  return `${sample.slice(0, end)}{shard="${shard}"${separator}${labels}`;
}
