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

/** Offer that differs. */
export interface ChangedOffer {
  readonly svc_offer_id: string;
  readonly lender_name: string;
  readonly change: OfferChange;
  /** Changed members; empty for an added or removed offer. */
  readonly members: readonly ChangedMember[];
}

export interface ChangedMember {
  readonly name: string;
  /** Absent if the member is missing, or if `too_long` is true. */
  readonly before?: unknown;
  readonly after?: unknown;
  readonly too_long?: true;
}

type Members = ReadonlyMap<string, unknown>;

/** Offer with the lender that has it. */
interface ListedOffer {
  readonly offer: object;
  readonly lender: object;
}

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
    const members = old === undefined || current === undefined ? [] : compareOffers(old, current, showsValues);
    if (change === 'changed' && members.length === 0) continue;
    counts[change]++;
    const { name } = (current ?? old)!.lender as { readonly name: string };
    const changed: ChangedOffer = { svc_offer_id: id, lender_name: name, change, members };
    const row = Buffer.from(JSON.stringify(changed));
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

/** Returns each offer by its id. */
function listOffers({ lenders }: CatalogFile): ReadonlyMap<string, ListedOffer> {
  const found = new Map<string, ListedOffer>();
  for (const { offers, ...lender } of lenders) for (const offer of offers) found.set(offer.id, { offer, lender });
  return found;
}

/** Compares the members of two offers and of their lenders. Most offers of a changed catalog are equal, so equal offers are found first. */
function compareOffers(before: ListedOffer, after: ListedOffer, showsValues: boolean): ChangedMember[] {
  if (isEqualJson(before.offer, after.offer) && isEqualJson(before.lender, after.lender)) return [];
  return compareMembers(listMembers(before), listMembers(after), showsValues);
}

/** Returns the members of an offer. The names of the members of its lender start with `lender.`. */
function listMembers({ offer, lender }: ListedOffer): Members {
  const lenderMembers = Object.entries(lender).map(([name, value]) => [`lender.${name}`, value] as const);
  return new Map([...Object.entries(offer), ...lenderMembers]);
}

function compareMembers(before: Members, after: Members, showsValues: boolean): ChangedMember[] {
  const names = [...new Set([...before.keys(), ...after.keys()])].sort();
  return names.flatMap((name): ChangedMember[] => {
    const [old, current] = [before.get(name), after.get(name)];
    if (isEqualJson(old, current)) return [];
    if (!showsValues || !isShort(old) || !isShort(current)) return [{ name, too_long: true }];
    return [{ name, ...(old !== undefined && { before: old }), ...(current !== undefined && { after: current }) }];
  });
}

/** Whether two parsed JSON values are equal. Several times as fast as `isDeepStrictEqual` of Node.js. */
function isEqualJson(one: unknown, other: unknown): boolean {
  if (one === other) return true;
  if (typeof one !== 'object' || typeof other !== 'object' || one === null || other === null) return false;
  if (Array.isArray(one) !== Array.isArray(other)) return false;
  const names = Object.keys(one);
  if (names.length !== Object.keys(other).length) return false;
  return names.every(
    (name) => Object.hasOwn(other, name) && isEqualJson(one[name as never] as unknown, other[name as never] as unknown),
  );
}

function isShort(value: unknown): boolean {
  return value === undefined || JSON.stringify(value).length <= bounds.changedValueCharactersMax;
}
