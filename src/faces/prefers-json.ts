import { parseWeightedList } from './weighted-list.ts';

/** Whether an `Accept` header asks for JSON rather than HTML, which is the answer to whoever does not say (docs/contract.md#embed-code). */
export function prefersJson(accept: string): boolean {
  const weights = parseWeightedList(accept);
  return (weights.get('application/json') ?? 0) > (weights.get('text/html') ?? 0);
}
