import { stringify } from 'csv-stringify/sync';
import type { TSchema } from 'typebox';

/** One page of a response as a table (docs/contract.md#csv). */
export interface CsvPage {
  /** Column names from {@link listCsvColumns}. */
  readonly columns: readonly string[];
  /** JSON values of the schema from which the columns were listed. */
  readonly rows: readonly object[];
  /** The parameter `cursor` of the next page; null on the last page. */
  readonly nextCursor: string | null;
}

interface ObjectSchema {
  readonly properties?: Readonly<Record<string, TSchema>>;
  readonly anyOf?: readonly TSchema[];
}

/**
 * Lists the CSV columns of an object schema, in the order of its properties. The properties of a nested object, also of a nullable one, are
 * columns such as `widget_events.offer_click`. A list and a dictionary are one column each.
 */
export function listCsvColumns(schema: TSchema): string[] {
  return Object.entries(findProperties(schema) ?? {}).flatMap(([name, property]) =>
    findProperties(property) === undefined ? [name] : listCsvColumns(property).map((nested) => `${name}.${nested}`),
  );
}

/** Returns the properties of an object schema; undefined for every other schema. */
function findProperties(schema: TSchema): ObjectSchema['properties'] {
  const { properties, anyOf = [] } = schema as ObjectSchema;
  return properties ?? anyOf.map(findProperties).find((found) => found !== undefined);
}

/**
 * Returns CSV text (RFC 4180) with one line of column names and one line for each row. A text cell that a spreadsheet would run as a formula
 * gets a leading apostrophe. Numbers are never quoted, null is an empty cell, and a list or a dictionary is JSON text.
 */
export function renderCsv({ columns, rows }: Pick<CsvPage, 'columns' | 'rows'>): string {
  return stringify([...rows], {
    columns: [...columns],
    header: true,
    record_delimiter: 'windows',
    // By default, a cell with a single CR or LF would not be quoted.
    quote_record_delimiter: true,
    escape_formulas: true,
    cast: { boolean: String },
  });
}
