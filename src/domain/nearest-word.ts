/**
 * The word somebody most likely meant who typed another: the nearest by letters left out, put in, changed or swapped, of which one
 * is forgiven in a short word and two in a longer one. Null when none is that near. Case does not count.
 */
export function nearestWord(typed: string, words: readonly string[]): string | null {
  const wanted = typed.toLowerCase();
  let nearest: string | null = null;
  let least = Number.POSITIVE_INFINITY;
  for (const word of words) {
    const most = word.length < 6 ? 1 : 2;
    // Also what keeps a long text from being compared at all.
    if (Math.abs(word.length - wanted.length) > most) continue;
    const distance = editDistance(wanted, word.toLowerCase());
    if (distance > most || distance >= least) continue;
    nearest = word;
    least = distance;
  }
  return nearest;
}

/** Optimal string alignment, row by row. */
function editDistance(one: string, other: string): number {
  let beforeLast: number[] = [];
  let last = Array.from({ length: other.length + 1 }, (_, at) => at);
  for (let i = 1; i <= one.length; i++) {
    const row = [i];
    for (let j = 1; j <= other.length; j++) {
      const same = one[i - 1] === other[j - 1] ? 0 : 1;
      let cost = Math.min(last[j]! + 1, row[j - 1]! + 1, last[j - 1]! + same);
      if (i > 1 && j > 1 && one[i - 1] === other[j - 2] && one[i - 2] === other[j - 1]) {
        cost = Math.min(cost, beforeLast[j - 2]! + 1);
      }
      row.push(cost);
    }
    beforeLast = last;
    last = row;
  }
  return last[other.length]!;
}
