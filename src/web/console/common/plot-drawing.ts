import uPlot from 'uplot';

/** Line of a plot. Lists have one value for each point of the x axis; null where there is none. */
export interface PlotLine {
  readonly label: string;
  readonly values: readonly (number | null)[];
  /** Number of the color, from 0. Default: the position of the line. An arm has the same color in all plots. */
  readonly color?: number;
  /** Interval around the values, drawn as a band. */
  readonly band?: { readonly low: readonly (number | null)[]; readonly high: readonly (number | null)[] };
}

/** Points of the x axis: UTC days, or numbers such as the age of sessions in weeks. */
export type PlotAxis =
  | { readonly kind: 'days'; readonly label: string; readonly days: readonly string[] }
  | { readonly kind: 'numbers'; readonly label: string; readonly numbers: readonly number[] };

export interface PlotProps {
  readonly title: string;
  readonly axis: PlotAxis;
  readonly lines: readonly PlotLine[];
  readonly format: (value: number | null | undefined) => string;
  /** Text of the band, such as `95 % interval`. */
  readonly bandLabel?: string;
  /** Draws a line at 0 with this text, such as `no difference`. */
  readonly zeroLabel?: string;
  /** Name of the files, without ending. */
  readonly fileName: string;
  readonly height?: number;
}

const font = '12px system-ui, "Segoe UI", Roboto, "Liberation Sans", sans-serif';
const labelGapPx = 8;
const labelHeightPx = 15;
/** Largest share of the plot's width for the labels at the ends of the lines. */
const labelShareMax = 0.3;
const labelCharactersMax = 28;
/** The second line is dashed, and so on, so that lines differ without color. */
const dashes = [[], [7, 4], [2, 3], [10, 3, 2, 3], [4, 2]];
const plotColorCount = 10;
/** Opacity of bands. Several bands overlap. */
const bandOpacity = '26';
/** Lines with fewer points show each point. */
const visiblePointsMax = 12;
/** Distances between labels of a day axis, in seconds. A label is a day, so the smallest distance is a day. */
const dayIncrements = [1, 2, 3, 7, 14, 28, 91, 182, 364].map((days) => days * 86_400);
const monthNames = ['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec'];

/** Returns the number of the color token of a line, from 1. */
export function plotColorOf({ color }: PlotLine, index: number): number {
  return ((color ?? index) % plotColorCount) + 1;
}

function readToken(name: string): string {
  return getComputedStyle(document.documentElement).getPropertyValue(name).trim();
}

function shorten(label: string): string {
  return label.length <= labelCharactersMax ? label : `${label.slice(0, labelCharactersMax - 1)}…`;
}

let measuring: CanvasRenderingContext2D | null = null;

function measureText(text: string): number {
  measuring ??= document.createElement('canvas').getContext('2d')!;
  measuring.font = font;
  return measuring.measureText(text).width;
}

/** Formats Unix seconds of an axis as a UTC day; the first day of the axis and of each year has the year. */
function formatDayTicks(_: uPlot, splits: number[]): string[] {
  let year = 0;
  return splits.map((seconds) => {
    const date = new Date(seconds * 1_000);
    const day = `${date.getUTCDate()} ${monthNames[date.getUTCMonth()]}`;
    if (date.getUTCFullYear() === year) return day;
    year = date.getUTCFullYear();
    return `${day}\n${year}`;
  });
}

/** Creates a plot with the current colors in an element. Calls `onSelect` with the index of the point below the pointer. */
export function createPlot(
  target: HTMLElement,
  props: PlotProps & { readonly height: number },
  onSelect: (index: number) => void,
): uPlot {
  const { axis, lines, height } = props;
  const width = Math.max(target.clientWidth, 1);
  const xs = axis.kind === 'days' ? axis.days.map((day) => Date.parse(`${day}T00:00:00Z`) / 1_000) : [...axis.numbers];
  const data: (number | null)[][] = [xs];
  const series: uPlot.Series[] = [{}];
  const bands: uPlot.Band[] = [];
  const colors = lines.map((line, index) => readToken(`--plot-${plotColorOf(line, index)}`));
  for (const [index, { label, values, band }] of lines.entries()) {
    const color = colors[index]!;
    series.push({
      label,
      stroke: color,
      width: 2,
      dash: lines.length === 1 ? [] : dashes[(plotColorOf(lines[index]!, index) - 1) % dashes.length]!,
      points: { show: values.filter((value) => value !== null).length <= visiblePointsMax, size: 5, fill: color },
    });
    data.push([...values]);
    if (band === undefined) continue;
    series.push({ stroke: 'transparent', points: { show: false } }, { stroke: 'transparent', points: { show: false } });
    data.push([...band.high], [...band.low]);
    bands.push({ series: [series.length - 2, series.length - 1], fill: `${color}${bandOpacity}` });
  }
  const labelWidth = Math.min(
    Math.max(0, ...lines.map(({ label }) => measureText(shorten(label)))),
    width * labelShareMax,
  );
  return new uPlot(
    {
      width,
      height,
      series,
      bands,
      ...createScalesAndAxes(props),
      legend: { show: false },
      padding: [10, labelWidth + labelGapPx * 2, 0, 0],
      cursor: { y: false, drag: { x: false, y: false }, points: { size: 7 } },
      hooks: {
        draw: [(plot) => drawLabels(plot, lines, colors, labelWidth), (plot) => drawZeroLine(plot, props.zeroLabel)],
        setCursor: [({ cursor: { idx } }) => idx != null && onSelect(idx)],
      },
    },
    data as uPlot.AlignedData,
    target,
  );
}

function createScalesAndAxes({ axis, format }: PlotProps): Pick<uPlot.Options, 'scales' | 'axes' | 'tzDate'> {
  const common: uPlot.Axis = {
    stroke: readToken('--ink-soft'),
    font,
    grid: { stroke: readToken('--line'), width: 1 },
    ticks: { show: false },
  };
  const values = (_: uPlot, splits: number[]) => trimZeros(splits.map((value) => format(value)));
  return {
    tzDate: (seconds) => uPlot.tzDate(new Date(seconds * 1_000), 'Etc/UTC'),
    scales: { x: { time: axis.kind === 'days' }, y: { range: (_, low, high) => extendRange(low, high) } },
    axes: [
      {
        ...common,
        space: 70,
        size: 42,
        grid: { show: false },
        ...(axis.kind === 'days'
          ? { values: formatDayTicks, incrs: dayIncrements }
          : { incrs: [1, 2, 5, 10, 20, 50, 100] }),
      },
      { ...common, values, space: 36, size: (_, texts) => Math.max(0, ...(texts ?? []).map(measureText)) + 14 },
    ],
  };
}

/** Removes the zeros at the ends of decimals that all texts of an axis have. */
function trimZeros(texts: readonly string[]): string[] {
  const hasZero = texts.length > 0 && texts.every((text) => /\.\d*0(?!\d)/.test(text));
  return hasZero
    ? trimZeros(texts.map((text) => text.replace(/(\.\d*?)0(?!\d)/, '$1').replace(/\.(?!\d)/, '')))
    : [...texts];
}

/** Returns the range of the y axis: always with 0, and with a margin. */
function extendRange(low: number | null, high: number | null): uPlot.Range.MinMax {
  const [from, to] = [Math.min(low ?? 0, 0), Math.max(high ?? 0, 0)];
  const margin = (to - from || 1) * 0.06;
  return [from < 0 ? from - margin : 0, to > 0 ? to + margin : to === from ? 1 : 0];
}

function drawZeroLine(plot: uPlot, label: string | undefined): void {
  if (label === undefined) return;
  const { ctx, bbox } = plot;
  const scale = devicePixelRatio;
  const y = Math.round(plot.valToPos(0, 'y', true));
  ctx.save();
  ctx.strokeStyle = readToken('--line-strong');
  ctx.fillStyle = readToken('--ink-soft');
  ctx.lineWidth = scale;
  ctx.beginPath();
  ctx.moveTo(bbox.left, y);
  ctx.lineTo(bbox.left + bbox.width, y);
  ctx.stroke();
  ctx.font = scaleFont(scale);
  ctx.textAlign = 'left';
  ctx.textBaseline = 'bottom';
  ctx.fillText(label, bbox.left + 6 * scale, y - 3 * scale);
  ctx.restore();
}

function scaleFont(scale: number): string {
  return font.replace('12px', `${12 * scale}px`);
}

/** Writes the label of each line beside its last point. Labels that would overlap are moved apart. */
function drawLabels(plot: uPlot, lines: readonly PlotLine[], colors: readonly string[], width: number): void {
  const { ctx, bbox } = plot;
  const scale = devicePixelRatio;
  const step = labelHeightPx * scale;
  const labels = lines
    .flatMap(({ label, values }, index) => {
      const last = values.findLastIndex((value) => value !== null);
      return last < 0
        ? []
        : [{ text: shorten(label), color: colors[index]!, y: plot.valToPos(values[last]!, 'y', true) }];
    })
    .sort((one, other) => one.y - other.y);
  for (const [index, label] of labels.entries()) {
    if (index > 0) label.y = Math.max(label.y, labels[index - 1]!.y + step);
  }
  // Labels below the plot move up again.
  for (let index = labels.length - 1, limit = bbox.top + bbox.height; index >= 0; index--, limit -= step) {
    labels[index]!.y = Math.min(labels[index]!.y, limit);
  }
  ctx.save();
  ctx.font = scaleFont(scale);
  ctx.textAlign = 'left';
  ctx.textBaseline = 'middle';
  for (const { text, color, y } of labels) {
    ctx.fillStyle = color;
    ctx.fillText(text, bbox.left + bbox.width + labelGapPx * scale, y, width * scale);
  }
  ctx.restore();
}

/** Returns the plot with its title as a PNG picture. */
export function drawPicture(plot: uPlot, title: string): Promise<Blob> {
  const source = plot.ctx.canvas;
  const scale = devicePixelRatio;
  const margin = 16 * scale;
  const titleHeight = 28 * scale;
  const picture = document.createElement('canvas');
  picture.width = source.width + 2 * margin;
  picture.height = source.height + titleHeight + 2 * margin;
  const context = picture.getContext('2d')!;
  context.fillStyle = readToken('--card');
  context.fillRect(0, 0, picture.width, picture.height);
  context.fillStyle = readToken('--ink');
  context.font = `600 ${scaleFont(scale).replace(/^\d+/, String(15 * scale))}`;
  context.textBaseline = 'top';
  context.fillText(title, margin, margin, picture.width - 2 * margin);
  context.drawImage(source, margin, margin + titleHeight);
  return new Promise((resolve, reject) => {
    picture.toBlob(
      (blob) => (blob === null ? reject(new Error('the browser cannot create the picture')) : resolve(blob)),
      'image/png',
    );
  });
}
