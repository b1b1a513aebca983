import { isDeepStrictEqual } from 'node:util';
import { bounds } from '../bounds.ts';
import type { CatalogFile } from './catalog-schema.ts';

/** Differences of two versions of a catalog. */
export interface CatalogComparison {
  readonly counts: Readonly<Record<OfferChange, number>>;
  /** Names of the changed members of the catalog file, without `lenders`. */
  readonly catalogMembers: readonly string[];
  /** JSON texts of the changed offers, in the alphabetical order of their ids, in UTF-8. */
  readonly rows: Uint8Array;
  /** Start of each row in `rows`, and the end of the last one. */
  readonly rowStarts: Uint32Array;
}

type OfferChange = 'added' | 'removed' | 'changed';

interface ChangedMember {
  readonly name: string;
  /** Absent if the member is missing, or if `too_long` is true. */
  readonly before?: unknown;
  readonly after?: unknown;
  readonly too_long?: true;
}

type Members = ReadonlyMap<string, unknown>;

/** Compares two catalogs. The values of long members are left out, and all further values if the result becomes too large. */
export function compareCatalogs(before: CatalogFile, after: CatalogFile): CatalogComparison {
  const [offersBefore, offersAfter] = [listOffers(before), listOffers(after)];
  const counts = { added: 0, removed: 0, changed: 0 };
  const rows: Buffer[] = [];
  const rowStarts = [0];
  let byteLength = 0;
  for (const id of [...new Set([...offersBefore.keys(), ...offersAfter.keys()])].sort()) {
    const [old, current] = [offersBefore.get(id), offersAfter.get(id)];
    const change = old === undefined ? 'added' : current === undefined ? 'removed' : 'changed';
    const showsValues = byteLength < bounds.catalogComparisonBytesMax;
    const members = old === undefined || current === undefined ? [] : compareMembers(old, current, showsValues);
    if (change === 'changed' && members.length === 0) continue;
    counts[change]++;
    const lenderName = (current ?? old)!.get('lender.name');
    const row = Buffer.from(JSON.stringify({ svc_offer_id: id, lender_name: lenderName, change, members }));
    rows.push(row);
    byteLength += row.length;
    rowStarts.push(byteLength);
  }
  const { lenders: _before, ...fileBefore } = before;
  const { lenders: _after, ...fileAfter } = after;
  const changedFile = compareMembers(new Map(Object.entries(fileBefore)), new Map(Object.entries(fileAfter)), false);
  return {
    counts,
    catalogMembers: changedFile.map(({ name }) => name),
    rows: new Uint8Array(Buffer.concat(rows)),
    rowStarts: Uint32Array.from(rowStarts),
  };
}

/** Returns the members of each offer by its id. The names of the members of its lender start with `lender.`. */
function listOffers({ lenders }: CatalogFile): ReadonlyMap<string, Members> {
  const found = new Map<string, Members>();
  for (const { offers, ...lender } of lenders) {
    const lenderMembers = Object.entries(lender).map(([name, value]) => [`lender.${name}`, value] as const);
    for (const { id, ...offer } of offers) found.set(id, new Map([...Object.entries(offer), ...lenderMembers]));
  }
  return found;
}

function compareMembers(before: Members, after: Members, showsValues: boolean): ChangedMember[] {
  const names = [...new Set([...before.keys(), ...after.keys()])].sort();
  return names.flatMap((name): ChangedMember[] => {
    const [old, current] = [before.get(name), after.get(name)];
    if (old === current || isDeepStrictEqual(old, current)) return [];
    if (!showsValues || !isShort(old) || !isShort(current)) return [{ name, too_long: true }];
    return [{ name, ...(old !== undefined && { before: old }), ...(current !== undefined && { after: current }) }];
  });
}

function isShort(value: unknown): boolean {
  return value === undefined || JSON.stringify(value).length <= bounds.changedValueCharactersMax;
}
