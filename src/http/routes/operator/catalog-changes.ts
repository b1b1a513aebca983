import { bounds } from '../../../bounds.ts';
import type { CatalogComparisons } from '../../../catalogs/catalog-comparisons.ts';
import type { CatalogStore } from '../../../catalogs/catalog-store.ts';
import type { CatalogComparison } from '../../../catalogs/compare-catalogs.ts';
import { formatIsoTimestamp, formatIsoTimestampOrNull } from '../../../domain/calendar.ts';
import { invalidRequest, type Outcome, serviceUnavailable, successOutcome } from '../../../domain/outcome.ts';
import type { OperatorRequest } from './operator-route.ts';
import { cursorRule, parsePageQuery, toPageJson } from './page-query.ts';

/** Lists a page of the differences between a catalog in use and the version before. Without a version before, there are none. */
export async function listChanges(
  { comparisons }: { readonly comparisons: Pick<CatalogComparisons, 'compare'> },
  { current, previous, activatedMs }: CatalogStore['servedCatalogs'][number],
  { query }: OperatorRequest,
): Promise<Outcome<object>> {
  const page = parsePageQuery(query);
  if (!page.ok) return page;
  const { limit = bounds.operatorPageItemsMax } = page;
  const before = previous?.version ?? '';
  const firstRow = parseCursor(page.values.cursor, before, current.version);
  if (firstRow === null) return invalidRequest('cursor', cursorRule);
  // The archived files of the two versions can be unreadable, or replaced by a new version at the moment.
  const comparison =
    previous === null ? emptyComparison : await comparisons.compare(before, current.version).catch(() => null);
  if (comparison === null) return serviceUnavailable(bounds.retryAfterSeconds);
  const rowCount = comparison.rowStarts.length - 1;
  const endRow = Math.min(rowCount, firstRow + limit + 1);
  const rows = Array.from({ length: Math.max(0, endRow - firstRow) }, (_, index) => firstRow + index);
  const { added, removed, changed } = comparison.counts;
  return successOutcome({
    version: current.version,
    activated_at: formatIsoTimestamp(activatedMs),
    previous_version: previous?.version ?? null,
    replaced_at: formatIsoTimestampOrNull(previous?.replacedMs ?? null),
    offers: { added, removed, changed },
    catalog_members: comparison.catalogMembers,
    ...toPageJson(
      rows,
      limit,
      (row) => `${before}.${current.version}.${row + 1}`,
      (row) => readRow(comparison, row),
    ),
  });
}

const emptyComparison: CatalogComparison = {
  counts: { added: 0, removed: 0, changed: 0 },
  catalogMembers: [],
  rows: new Uint8Array(),
  rowStarts: Uint32Array.of(0),
};

const cursorPattern = /^([0-9a-f]{12})\.([0-9a-f]{12})\.(\d{1,5})$/;

/** Returns the first row of a page: 0 without a cursor, and null for an invalid cursor or a cursor of other versions. */
function parseCursor(cursor: string | undefined, before: string, after: string): number | null {
  if (cursor === undefined) return 0;
  const [, cursorBefore, cursorAfter, row] = cursorPattern.exec(cursor) ?? [];
  return cursorBefore === before && cursorAfter === after ? Number(row) : null;
}

function readRow({ rows, rowStarts }: CatalogComparison, row: number): object {
  const text = Buffer.from(rows.buffer, rows.byteOffset).toString('utf8', rowStarts[row], rowStarts[row + 1]);
  return JSON.parse(text) as object;
}
