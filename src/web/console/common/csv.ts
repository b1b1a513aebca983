export type CsvValue = string | number | boolean | null | undefined;

/**
 * Places at which a spreadsheet could run a text as a formula. They get an apostrophe, as in the CSV answers of the API. A spreadsheet that
 * gets copied CSV splits also quoted texts at tabs and line breaks, so the apostrophe is needed there, too.
 */
const formulaStarts = /(?<=^|[\t\r\n])(?=[=+\-@\t\r\uFF1D\uFF0B\uFF0D\uFF20])/g;

function formatCell(value: CsvValue): string {
  if (value === null || value === undefined) return '';
  if (typeof value === 'number') return String(value);
  const text = typeof value === 'string' ? value.replaceAll(formulaStarts, "'") : String(value);
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

/** Returns CSV text (RFC 4180) with a line of column names and one line for each row. Numbers stay numbers. */
export function renderCsv(columns: readonly string[], rows: readonly (readonly CsvValue[])[]): string {
  return [columns, ...rows].map((row) => `${row.map(formatCell).join(',')}\r\n`).join('');
}
