import process from 'node:process';
import { bounds } from '../bounds.ts';
import type { CatalogFaults } from '../offers/catalog-faults.ts';
import type { CatalogFile } from '../offers/catalog-schema.ts';
import { textSizeProblem } from '../offers/catalog-size.ts';
import { catalogVersion } from '../offers/catalog-version.ts';
import { inspectCatalog } from '../offers/parse-catalog.ts';
import { readCatalogText } from '../offers/read-catalog-text.ts';
import { servedVerticals } from '../verticals/served-verticals.ts';
import type { Vertical } from '../verticals/vertical.ts';
import { CommandLineError } from './command-line-error.ts';
import { say } from './output.ts';

/** A catalog file that a command was given: its text, and what became of reading it. */
export type CommandCatalog = { readonly text: string; readonly vertical: Vertical } & (
  | { readonly catalog: CatalogFile; readonly faults: null }
  | { readonly catalog: null; readonly faults: CatalogFaults }
);

/**
 * Reads it for the vertical it names itself. Throws `CommandLineError` when the file cannot be read. A large one keeps a command busy
 * for seconds, of which a terminal is told beforehand.
 */
export function readCatalog(file: string, { json }: { readonly json?: true }): CommandCatalog {
  const read = readCatalogText(file);
  if (!read.ok) throw new CommandLineError(`${file} ${read.problem}`);
  const { text } = read;
  if (!json && process.stderr.isTTY && text.length > bounds.catalogQuickCharacters) {
    say(`${file} has ${Math.round(text.length / 1_000_000)} million characters; this takes some seconds.`);
  }
  const vertical = verticalNamedIn(text);
  const inspected = inspectCatalog(text, vertical);
  return inspected.ok
    ? { text, vertical, catalog: inspected.catalog, faults: null }
    : { text, vertical, catalog: null, faults: inspected.faults };
}

/** How much a valid catalog holds, and the names it goes by in answers and in the log. */
export function catalogSummary(catalog: CatalogFile) {
  return {
    vertical: catalog.vertical,
    lenders: catalog.lenders.length,
    offers: catalog.lenders.reduce((sum, { offers }) => sum + offers.length, 0),
    versions: { live: catalogVersion(catalog, 'live'), test: catalogVersion(catalog, 'test') },
  };
}

/** What is not served, or cannot be told, is judged as the first vertical, and so found faulty. */
function verticalNamedIn(text: string): Vertical {
  let named: unknown;
  if (textSizeProblem(text) !== null) return servedVerticals[0]!;
  try {
    named = (JSON.parse(text) as { vertical?: unknown } | null)?.vertical;
  } catch {
    named = undefined;
  }
  return servedVerticals.find(({ segment }) => segment === named) ?? servedVerticals[0]!;
}
