import { nearestWord } from './nearest-word.ts';
import { escapeInvisible } from './plain-text.ts';

/**
 * For what a program hands us, which no compiler may have seen: throws a RangeError that tells the first member whose name is none of
 * these, with the one that was probably meant. What the member holds is not told.
 *
 * @param within where the members are, such as `listen`; empty at the top
 */
export function assertKnownNames(within: string, holder: object, names: readonly string[]): void {
  const wrong = Object.keys(holder).find((name) => !names.includes(name));
  if (wrong === undefined) return;
  const placed = (name: string) => (within === '' ? name : `${within}.${name}`);
  const meant = nearestWord(wrong, names);
  const hint = meant === null ? `the options are ${names.map(placed).join(', ')}` : `did you mean ${placed(meant)}?`;
  throw new RangeError(`${placed(escapeInvisible(wrong))} is no option; ${hint}`);
}
