import { setTimeout as pause } from 'node:timers/promises';
import { bounds } from '../../../bounds.ts';
import type { CatalogComparisons } from '../../../catalogs/catalog-comparisons.ts';
import type { CatalogStore } from '../../../catalogs/catalog-store.ts';
import type { CatalogComparison, ChangedOffer } from '../../../catalogs/compare-catalogs.ts';
import { formatIsoTimestamp, formatIsoTimestampOrNull } from '../../../domain/calendar.ts';
import {
  catalogArchiveUnavailable,
  catalogComparisonRunning,
  invalidRequest,
  type Outcome,
  type SuccessValue,
  serviceUnavailable,
  successOutcome,
} from '../../../domain/outcome.ts';
import type { OperatorRequest } from './operator-route.ts';
import { cursorRule, parsePageQuery, toPageJson } from './page-query.ts';

/** Page of the differences between a catalog in use and the version before. */
export type CatalogChangesPage = SuccessValue<ReturnType<typeof listChanges>>;

/** Lists a page of the differences between a catalog in use and the version before. Without a version before, there are none. */
export async function listChanges(
  { comparisons }: { readonly comparisons: Pick<CatalogComparisons, 'compare'> },
  { current, previous, activatedMs }: CatalogStore['servedCatalogs'][number],
  { query }: OperatorRequest,
) {
  const page = parsePageQuery(query);
  if (!page.ok) return page;
  const { limit = bounds.operatorPageItemsMax } = page;
  const before = previous?.version ?? '';
  const firstRow = parseCursor(page.values.cursor, before, current.version);
  if (firstRow === null) return invalidRequest('cursor', cursorRule);
  const compared =
    previous === null ? successOutcome(emptyComparison) : await compareVersions(comparisons, before, current.version);
  if (!compared.ok) return compared;
  const comparison = compared.value;
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

/**
 * Compares two versions. Returns an error if the comparison takes long, and goes on with it for a later request. The archived file of a
 * version can be unreadable, or deleted at the moment because of a new version.
 */
async function compareVersions(
  comparisons: Pick<CatalogComparisons, 'compare'>,
  before: string,
  after: string,
): Promise<Outcome<CatalogComparison>> {
  const answered = new AbortController();
  const timeout = pause(bounds.catalogComparisonWaitMs, 'timeout' as const, { signal: answered.signal });
  try {
    const comparison = await Promise.race([comparisons.compare(before, after), timeout]);
    if (comparison === 'timeout') return catalogComparisonRunning(bounds.retryAfterSeconds);
    if (comparison !== null) return successOutcome(comparison);
    return serviceUnavailable(bounds.retryAfterSeconds, { text: 'too many comparisons of catalogs at once' });
  } catch (error) {
    return catalogArchiveUnavailable(bounds.archiveRetryAfterSeconds, error);
  } finally {
    answered.abort();
  }
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

function readRow({ rows, rowStarts }: CatalogComparison, row: number): ChangedOffer {
  const text = Buffer.from(rows.buffer, rows.byteOffset).toString('utf8', rowStarts[row], rowStarts[row + 1]);
  return JSON.parse(text) as ChangedOffer;
}
