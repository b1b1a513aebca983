const width = 120;
const height = 30;
const margin = 2;

interface SparklineProps {
  /** Values in the order of time; null where there is none. */
  readonly values: readonly (number | null)[];
  /** Interval around the values, drawn as a band. */
  readonly band?: { readonly low: readonly (number | null)[]; readonly high: readonly (number | null)[] };
  /** What the plot shows, in words, for screen readers. */
  readonly label: string;
}

/** Small line plot without axes, beside the figures in words or in a table. Its range contains 0, at which it has a line. */
export function Sparkline({ values, band, label }: SparklineProps) {
  const all = [...values, ...(band?.low ?? []), ...(band?.high ?? []), 0].filter((value) => value !== null);
  const [lowest, highest] = [Math.min(...all), Math.max(...all)];
  const xOf = (index: number) =>
    margin + (values.length < 2 ? 0 : (index / (values.length - 1)) * (width - 2 * margin));
  const yOf = (value: number) => height - margin - ((value - lowest) / (highest - lowest || 1)) * (height - 2 * margin);
  const pointsOf = (list: readonly (number | null)[]) =>
    list.flatMap((value, index) => (value === null ? [] : [`${xOf(index).toFixed(1)},${yOf(value).toFixed(1)}`]));
  const points = pointsOf(values);
  const zero = yOf(0).toFixed(1);
  const area =
    band === undefined
      ? [`${margin},${zero}`, ...points, `${width - margin},${zero}`]
      : [...pointsOf(band.high), ...pointsOf(band.low).reverse()];
  return (
    <svg
      class="sparkline"
      viewBox={`0 0 ${width} ${height}`}
      width={width}
      height={height}
      role="img"
      aria-label={label}
    >
      {points.length > 0 && <polygon points={area.join(' ')} />}
      <line x1={margin} x2={width - margin} y1={zero} y2={zero} />
      <polyline points={points.join(' ')} />
    </svg>
  );
}
