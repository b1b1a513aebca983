/**
 * Finds the lowest keys of a list.
 *
 * @param keys sort keys: whole numbers between -2^52 and 2^52
 * @param count number of elements of `keys` to read
 * @param places filled with the positions of the lowest keys, ascending by key, then by position
 * @param capacity maximum number of positions to find
 * @returns number of positions in `places`
 */
export function selectLowest(keys: Float64Array, count: number, places: Uint16Array, capacity: number): number {
  let size = 0;
  /** Keys from `limit` on are not among the lowest. */
  let limit = count > 3 * capacity ? findLimit(keys, count, capacity) : Number.POSITIVE_INFINITY;
  for (let at = 0; at < count; at++) {
    const key = keys[at]!;
    if (key >= limit) continue;
    let place = size < capacity ? size++ : size - 1;
    for (; place > 0; place--) {
      const before = places[place - 1]!;
      if (keys[before]! <= key) break;
      places[place] = before;
    }
    places[place] = at;
    if (size === capacity) limit = keys[places[size - 1]!]!;
  }
  return size;
}

const bucketKeyCounts = new Uint16Array(64);

/**
 * Returns a key such that at least `capacity` keys are lower, or `Infinity`. The function counts the keys in equal intervals between the
 * lowest and the highest key. The returned limit saves `selectLowest` most of the moves within its list.
 */
function findLimit(keys: Float64Array, count: number, capacity: number): number {
  let min = keys[0]!;
  let max = min;
  for (let at = 1; at < count; at++) {
    min = Math.min(min, keys[at]!);
    max = Math.max(max, keys[at]!);
  }
  if (max - min < bucketKeyCounts.length) return Number.POSITIVE_INFINITY;
  const bucketsPerUnit = (bucketKeyCounts.length - 1) / (max - min);
  bucketKeyCounts.fill(0);
  for (let at = 0; at < count; at++) bucketKeyCounts[Math.floor((keys[at]! - min) * bucketsPerUnit)]!++;
  let bucket = 0;
  for (let lower = bucketKeyCounts[0]!; lower < capacity; lower += bucketKeyCounts[bucket]!) bucket++;
  // One more interval than necessary, because the calculation of intervals has rounding errors.
  return min + (bucket + 2) / bucketsPerUnit;
}
