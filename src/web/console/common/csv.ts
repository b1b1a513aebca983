export type CsvValue = string | number | boolean | null | undefined;

/** Texts that a spreadsheet would run as a formula. The API protects its CSV answers in the same way. */
const formulaStart = /^[=+\-@\t\r]/;

function formatCell(value: CsvValue): string {
  if (value === null || value === undefined) return '';
  if (typeof value === 'number') return String(value);
  const text = typeof value === 'string' && formulaStart.test(value) ? `'${value}` : String(value);
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

/** Returns CSV text (RFC 4180) with a line of column names and one line for each row. Numbers stay numbers. */
export function renderCsv(columns: readonly string[], rows: readonly (readonly CsvValue[])[]): string {
  return [columns, ...rows].map((row) => `${row.map(formatCell).join(',')}\r\n`).join('');
}
