import type { CatalogErrors } from '../offers/catalog-faults.ts';
import type { CatalogFile } from '../offers/catalog-schema.ts';
import { catalogVersionsByMode } from '../offers/catalog-version.ts';
import { validateCatalogValue, parseCatalogJson } from '../offers/parse-catalog.ts';
import { readCatalogText } from '../offers/read-catalog-text.ts';
import { servedVerticals } from '../verticals/served-verticals.ts';
import type { Vertical } from '../verticals/vertical.ts';
import { CommandLineError } from './command-line-error.ts';
import type { SteppedProgress } from './stepped-progress.ts';

/** A catalog file that a command was given: its text, and what became of reading it. */
export type CatalogReadResult = { readonly text: string; readonly vertical: Vertical } & (
  | { readonly catalog: CatalogFile; readonly faults: null }
  | { readonly catalog: null; readonly faults: CatalogErrors }
);

/** The steps of `readCatalogFile`, with the tenths of a second that the largest catalog takes. */
export const readSteps = { read: 7, judge: 8 } as const;

/** Reads it for the vertical it names itself. Throws `CommandLineError` when the file cannot be read. */
export function readCatalogFile(file: string, progress: SteppedProgress<keyof typeof readSteps>): CatalogReadResult {
  const read = readCatalogText(file);
  if (!read.ok) throw new CommandLineError(`${file} ${read.problem}`);
  const { text } = read;
  const parsed = parseCatalogJson(text);
  progress.update('judge');
  const vertical = verticalOfCatalog(parsed.ok ? parsed.value : null);
  const inspected = parsed.ok ? validateCatalogValue(parsed.value, vertical, (share) => progress.update('judge', share)) : parsed;
  return inspected.ok
    ? { text, vertical, catalog: inspected.catalog, faults: null }
    : { text, vertical, catalog: null, faults: inspected.faults };
}

/** How much a valid catalog holds, and the names it goes by in answers and in the log. */
export function summarizeCatalog(catalog: CatalogFile) {
  return {
    vertical: catalog.vertical,
    lenders: catalog.lenders.length,
    offers: catalog.lenders.reduce((sum, { offers }) => sum + offers.length, 0),
    versions: catalogVersionsByMode(catalog),
  };
}

/** What is not served, or cannot be told, is judged as the first vertical, and so found faulty. */
function verticalOfCatalog(value: unknown): Vertical {
  const named = (value as { vertical?: unknown } | null)?.vertical;
  return servedVerticals.find(({ segment }) => segment === named) ?? servedVerticals[0]!;
}
