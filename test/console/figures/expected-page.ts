import assert from 'node:assert/strict';
import type { Page } from 'playwright-core';
import { type CsvValue, renderCsv } from '../../../src/web/console/common/csv.ts';
import { formatDay, formatRange } from '../../../src/web/console/common/format.ts';
import { copyAllCsv, openDetails, readPageContent, readPlotLabels } from './page-content.ts';

/** Sends a request and returns the answer. A request with a body is a POST request by default. */
type Ask = <Answer>(path: string, body?: object, method?: 'PUT') => Promise<Answer>;

export interface Api {
  /** The path is below the vertical of the account. */
  readonly partner: Ask;
  readonly operator: Ask;
}

type Format<Value> = (value: Value) => string;
type NumberFormat = Format<number | null | undefined>;

/** Column of a table, with what the page and the CSV show for a row of an answer. */
export interface ExpectedColumn<Row> {
  /** With the note below the header; null if only the CSV has the column. */
  readonly header: string | null;
  /** Null if only the page has the column. */
  readonly csvName: string | null;
  readonly cell: (row: Row) => string;
  readonly value: (row: Row) => CsvValue;
}

/** Column that shows a formatted value, and has the value in the CSV. The CSV has the same header by default. */
export function column<Row, Value extends CsvValue>(
  header: string,
  value: (row: Row) => Value,
  format: Format<Value> = String,
  csvName: string = header,
): ExpectedColumn<Row> {
  return { header, csvName, value, cell: (row) => format(value(row)) };
}

/** Columns that show members of the rows. The names of the members stand in the CSV. */
export function memberColumns<Row>(
  columns: readonly (readonly [header: string, member: keyof Row & string, format: NumberFormat])[],
): ExpectedColumn<Row>[] {
  return columns.map(([header, member, format]) =>
    column(header, (row) => row[member] as number | null | undefined, format, member),
  );
}

/** Column that the CSV does not have. */
export function shownColumn<Row>(header: string, cell: (row: Row) => string): ExpectedColumn<Row> {
  return { header, csvName: null, cell, value: () => null };
}

/** Column that only the CSV has. */
export function csvColumn<Row>(csvName: string, value: (row: Row) => CsvValue): ExpectedColumn<Row> {
  return { header: null, csvName, cell: () => '', value };
}

/** Rows of a table as the page shows them, and its CSV. A plot has another CSV in the order of its points. */
interface ExpectedTable {
  readonly rows: readonly Readonly<Record<string, string>>[];
  readonly csv: readonly string[];
}

export function table<Row>(rows: readonly Row[], columns: readonly ExpectedColumn<Row>[]): ExpectedTable {
  const shown = columns.filter(({ header }) => header !== null);
  const copied = columns.filter(({ csvName }) => csvName !== null);
  const csv = renderCsv(
    copied.map(({ csvName }) => csvName!),
    rows.map((row) => copied.map(({ value }) => value(row))),
  );
  return {
    rows: rows.map((row) => Object.fromEntries(shown.map(({ header, cell }) => [header!, cell(row)]))),
    csv: [csv],
  };
}

/** Line of a plot, with a value for each point of the x axis. */
interface ExpectedLine<Point> {
  readonly label: string;
  readonly value: (point: Point) => number | null;
  readonly low?: (point: Point) => number | null;
  readonly high?: (point: Point) => number | null;
}

interface ExpectedPlot<Point> {
  readonly title: string;
  readonly points: readonly Point[];
  readonly lines: readonly ExpectedLine<Point>[];
  readonly format: NumberFormat;
  /** Label of the x axis. */
  readonly axis: string;
  /** Point of the x axis: an ISO day or a number. */
  readonly x: (point: Point) => string | number;
}

/** Returns the table of a plot, the texts of the point that is selected at first, and the order of the labels at the ends of the lines. */
export function plot<Point>({ title, points, lines, format, axis, x }: ExpectedPlot<Point>) {
  const isOfDays = typeof x(points[0]!) === 'string';
  const columns: ExpectedColumn<Point>[] = [
    isOfDays ? column(`${axis} (UTC)`, x, (day) => formatDay(String(day)), 'day_utc') : column(axis, x),
    ...lines.flatMap(({ label, value, low, high }) =>
      low === undefined || high === undefined
        ? [column(label, value, format)]
        : [column(label, value, format), column(`${label}, low`, low, format), column(`${label}, high`, high, format)],
    ),
  ];
  const inOrder = table(points, columns);
  const { rows, csv } = isOfDays ? table(points.toReversed(), columns) : inOrder;
  const last = points.at(-1)!;
  const lastText = isOfDays ? `${formatDay(String(x(last)))} UTC` : `${axis}: ${x(last)}`;
  const readings = lines.map(({ value, low, high }) => {
    const [lowest, highest] = [low?.(last) ?? null, high?.(last) ?? null];
    const range = lowest === null || highest === null ? '' : ` (${formatRange(lowest, highest, format)})`;
    return `${format(value(last))}${range}`;
  });
  const readingOf = (at: number) => (lines.length > 1 ? `${lines[at]!.label} ${readings[at]}` : readings[at]);
  const lastValue = ({ value }: ExpectedLine<Point>) => points.map(value).findLast((each) => each !== null);
  return {
    title,
    table: { rows, csv: [...inOrder.csv, ...csv] },
    /** Text above the plot. */
    reading: [lastText, ...lines.map((_, at) => readingOf(at))].join(' '),
    /** Text for screen readers. */
    label: `${lastText}. ${lines.map(({ label }, at) => `${label}: ${readings[at]}`).join('. ')}`,
    /** Labels of the lines with values, the one with the largest last value first. */
    ends: lines
      .filter((line) => lastValue(line) !== undefined)
      .sort((one, other) => lastValue(other)! - lastValue(one)!)
      .map(({ label }) => label),
  };
}

/** What a page must show for the answers of the API. Texts without a digit may be in the lists. */
export interface ExpectedPage {
  readonly tables?: Readonly<Record<string, ExpectedTable>>;
  readonly figures?: Readonly<Record<string, string>>;
  readonly fields?: readonly string[];
  readonly texts?: readonly string[];
  readonly plots?: readonly ReturnType<typeof plot>[];
}

/** Page of a console, and what it must show. */
export interface FigurePage {
  readonly name: string;
  /** Part of the address after the path of the console. */
  readonly place: string | ((api: Api) => Promise<string>);
  /** Brings the opened page into the state that is compared. */
  readonly prepare?: (page: Page, api: Api) => Promise<void>;
  readonly expect: (api: Api) => Promise<ExpectedPage>;
}

/** Replaces spaces and line breaks of all kinds by single spaces. */
const clean = (text: string) => text.replaceAll(/\s+/g, ' ').trim();
const cleanRecord = (record: Readonly<Record<string, string>>) =>
  Object.fromEntries(Object.entries(record).map(([key, text]) => [clean(key), clean(text)]));
const withDigits = (texts: readonly string[]) => texts.map(clean).filter((text) => /\d/.test(text));

/** Compares everything on an open page that has a digit, its tables and lists of figures, and their CSV, with what the page must show. */
export async function checkPage(page: Page, { tables = {}, plots = [], ...expected }: ExpectedPage): Promise<void> {
  await openDetails(page);
  const allTables = { ...tables, ...Object.fromEntries(plots.map(({ title, table: each }) => [title, each])) };
  const entries = Object.entries(allTables);
  assert.deepEqual(await readPageContent(page), {
    tables: Object.fromEntries(entries.map(([caption, { rows }]) => [clean(caption), rows.map(cleanRecord)])),
    figures: cleanRecord(expected.figures ?? {}),
    fields: withDigits(expected.fields ?? []),
    texts: withDigits([...(expected.texts ?? []), ...plots.map(({ label }) => label)]),
  });
  const copies = Object.fromEntries(entries.map(([caption, { csv }]) => [caption, csv]));
  assert.deepEqual(await copyAllCsv(page), copies);
  assert.deepEqual(await readPlotLabels(page), Object.fromEntries(plots.map(({ title, ends }) => [title, ends])));
}
