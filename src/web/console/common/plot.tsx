import { useEffect, useRef, useState } from 'preact/hooks';
import type uPlot from 'uplot';
import { CopyButton } from './copy-button.tsx';
import { renderCsv } from './csv.ts';
import { type Column, DataTable } from './data-table.tsx';
import { formatDay, formatRange, formatUtcDay } from './format.ts';
import { createPlot, drawPicture, type PlotAxis, type PlotLine, type PlotProps, plotColorOf } from './plot-drawing.ts';
import { copyPicture, copyText, downloadCsv, downloadFile } from './save.ts';
import { useTheme } from './theme.ts';

const defaultHeight = 260;

/** Returns the text of a point of the x axis. */
function formatPoint(axis: PlotAxis, index: number): string {
  if (axis.kind === 'days') return formatUtcDay(axis.days[index]);
  return `${axis.label}: ${axis.numbers[index] ?? ''}`;
}

/**
 * Line plot with labels at the ends of its lines, bands of intervals, and a table with the same figures. The arrow keys select a point, whose
 * figures are shown as text.
 */
export function Plot(props: PlotProps) {
  const { title, axis, lines, format, fileName, height = defaultHeight } = props;
  const pointCount = axis.kind === 'days' ? axis.days.length : axis.numbers.length;
  const [selected, setSelected] = useState<number | null>(null);
  const point = Math.min(selected ?? pointCount - 1, pointCount - 1);
  const { target, plot } = usePlot({ ...props, height }, setSelected);
  const createCsv = () => createPlotCsv(props);
  const createPicture = () => drawPicture(plot.current!, title);
  const pickPoint = (index: number) => {
    const next = Math.max(0, Math.min(pointCount - 1, index));
    setSelected(next);
    plot.current?.setCursor({ left: plot.current.valToPos(plot.current.data[0][next]!, 'x'), top: -1 }, false);
  };
  const onKeyDown = (event: KeyboardEvent) => {
    const steps: Readonly<Record<string, number>> = {
      ArrowLeft: point - 1,
      ArrowRight: point + 1,
      ArrowDown: point - 1,
      ArrowUp: point + 1,
      Home: 0,
      End: pointCount - 1,
    };
    const next = steps[event.key];
    if (next === undefined) return;
    event.preventDefault();
    pickPoint(next);
  };
  const readings = lines.map((line) => describeReading(line, point, format));
  return (
    <figure class="plot">
      <figcaption>{title}</figcaption>
      <p class="plot-reading">
        <span class="plot-point">{formatPoint(axis, point)}</span>
        {lines.map((line, index) => (
          <span key={line.label}>
            <span class={`key key-${plotColorOf(line, index)}`} /> {lines.length > 1 && <bdi>{line.label} </bdi>}
            <strong>{readings[index]}</strong>
          </span>
        ))}
      </p>
      <div
        class="plot-area"
        ref={target}
        tabIndex={0}
        role="slider"
        aria-label={`Point of the plot: ${title}`}
        aria-valuemin={0}
        aria-valuemax={Math.max(0, pointCount - 1)}
        aria-valuenow={point}
        aria-valuetext={`${formatPoint(axis, point)}. ${lines.map(({ label }, index) => `${label}: ${readings[index]}`).join('. ')}`}
        onKeyDown={onKeyDown}
      />
      <div class="actions">
        <CopyButton
          label="Copy as CSV"
          subject={title}
          copy={() => copyText(createCsv())}
          download={() => downloadCsv(fileName, createCsv())}
        />
        <CopyButton
          label="Copy as picture"
          subject={title}
          copy={async () => copyPicture(await createPicture())}
          download={() => void createPicture().then((picture) => downloadFile(`${fileName}.png`, picture))}
        />
      </div>
      <PlotTable {...props} />
    </figure>
  );
}

function describeReading({ values, band }: PlotLine, point: number, format: PlotProps['format']): string {
  const text = format(values[point]);
  const [low, high] = [band?.low[point], band?.high[point]];
  return low == null || high == null ? text : `${text} (${formatRange(low, high, format)})`;
}

/** Draws the plot in the element `target`, and draws it again when figures, size or colors change. */
function usePlot(props: PlotProps & { readonly height: number }, onSelect: (index: number) => void) {
  const target = useRef<HTMLDivElement>(null);
  const plot = useRef<uPlot>(null);
  const { colorsVersion } = useTheme();
  const content = JSON.stringify([props.title, props.axis, props.lines, props.zeroLabel, props.height]);
  // `content` stands for all figures, because the lists are new in each rendering.
  useEffect(() => {
    const element = target.current!;
    plot.current = createPlot(element, props, onSelect);
    const observer = new ResizeObserver(() => {
      const width = element.clientWidth;
      if (width > 0 && width !== plot.current?.width) plot.current?.setSize({ width, height: props.height });
    });
    observer.observe(element);
    return () => {
      observer.disconnect();
      plot.current?.destroy();
      plot.current = null;
    };
  }, [content, colorsVersion]);
  return { target, plot };
}

interface PlotRow {
  readonly index: number;
}

/** Returns the columns of the table with the figures of a plot. */
function listPlotColumns({ axis, lines, format }: PlotProps): Column<PlotRow>[] {
  const point: Column<PlotRow> =
    axis.kind === 'days'
      ? {
          header: `${axis.label} (UTC)`,
          cell: ({ index }) => formatDay(axis.days[index]),
          value: ({ index }) => axis.days[index],
          csvName: 'day_utc',
        }
      : { header: axis.label, cell: ({ index }) => axis.numbers[index], value: ({ index }) => axis.numbers[index] };
  return [
    point,
    ...lines.flatMap(({ label, values, band }): Column<PlotRow>[] => {
      const own: Column<PlotRow> = {
        header: label,
        isNumber: true,
        cell: ({ index }) => format(values[index]),
        value: ({ index }) => values[index],
      };
      if (band === undefined) return [own];
      const { low, high } = band;
      return [
        own,
        {
          header: `${label}, low`,
          isNumber: true,
          cell: ({ index }) => format(low[index]),
          value: ({ index }) => low[index],
        },
        {
          header: `${label}, high`,
          isNumber: true,
          cell: ({ index }) => format(high[index]),
          value: ({ index }) => high[index],
        },
      ];
    }),
  ];
}

function listPlotRows({ axis }: PlotProps): PlotRow[] {
  return (axis.kind === 'days' ? axis.days : axis.numbers).map((_, index) => ({ index }));
}

function createPlotCsv(props: PlotProps): string {
  const columns = listPlotColumns(props);
  return renderCsv(
    columns.map(({ csvName, header }) => csvName ?? header),
    listPlotRows(props).map((row) => columns.map(({ value }) => value!(row))),
  );
}

/** The figures of a plot as a table, with the latest point first. The rows exist only while the table is open. */
function PlotTable(props: PlotProps) {
  const [isOpen, setOpen] = useState(false);
  return (
    <details class="plot-table" onToggle={({ currentTarget }) => setOpen(currentTarget.open)}>
      <summary>
        Show as a table<span class="visually-hidden">: {props.title}</span>
      </summary>
      {isOpen && (
        <DataTable
          caption={props.title}
          isCaptionHidden
          columns={listPlotColumns(props)}
          rows={props.axis.kind === 'days' ? listPlotRows(props).reverse() : listPlotRows(props)}
          rowKey={({ index }) => String(index)}
          csvName={props.fileName}
        />
      )}
    </details>
  );
}
