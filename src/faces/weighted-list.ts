import { bounds } from '../bounds.ts';

/**
 * What a header such as `Accept` lists, in lower case, with the weight of each (RFC 9110, 12.4.2). A list longer than any
 * browser sends is passed over whole: taking it apart would cost more than the answer.
 */
export function parseWeightedList(header: string): ReadonlyMap<string, number> {
  const weights = new Map<string, number>();
  if (header.length > bounds.headerListCharactersMax) return weights;
  for (const item of header.split(',')) {
    const [name, ...parameters] = item.split(';');
    weights.set(name!.trim().toLowerCase(), parseWeight(parameters));
  }
  return weights;
}

function parseWeight(parameters: readonly string[]): number {
  for (const text of parameters) {
    const weight = /^\s*q=([01](?:\.\d{0,3})?)\s*$/i.exec(text);
    if (weight !== null) return Number(weight[1]);
  }
  return 1;
}
