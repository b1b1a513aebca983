import { bounds } from '../bounds.ts';
import { choiceValues } from '../verticals/choice-values.ts';
import type { Vertical } from '../verticals/vertical.ts';
import type { CatalogFile, CatalogLender, CatalogOffer } from './catalog-schema.ts';

/**
 * What holds in each state. Most offers follow the rules of the catalog alone, and those of a lender often share theirs, so
 * offers point at sets of rules: set 0 is the catalog's, the others are the catalog's with those of a lender and an offer.
 */
export interface StateRuleTables {
  readonly stateCount: number;
  /** By set and state: highest APR shown there, in percent. */
  readonly stateAprCap: Float64Array;
  /** By set and state: least amount of a loan there, in USD. */
  readonly stateAmountMin: Float64Array;
  /** By state: age of contract in completed years; 0 where the catalog names none. */
  readonly stateAgeMin: Uint8Array;
  /** By offer: its set. */
  readonly stateRuleSet: Uint16Array;
}

export function compileStateRules(
  catalog: CatalogFile,
  numbered: readonly { readonly lender: CatalogLender; readonly offer: CatalogOffer }[],
  vertical: Vertical,
): StateRuleTables {
  const states = choiceValues(vertical, vertical.roles.state);
  const sets: Pick<CatalogFile, 'state_rules'>['state_rules'][][] = [[catalog.state_rules]];
  const numberOfSet = new Map([['', 0]]);
  const stateRuleSet = Uint16Array.from(numbered, ({ lender, offer }) => {
    const own = [lender.state_rules ?? {}, offer.state_rules ?? {}].filter((rules) => Object.keys(rules).length > 0);
    const name = own.map((rules) => JSON.stringify(rules)).join();
    let number = numberOfSet.get(name);
    if (number === undefined) {
      number = sets.push([catalog.state_rules, ...own]) - 1;
      numberOfSet.set(name, number);
    }
    return number;
  });
  const everywhere = Math.min(catalog.max_apr_percent, bounds.aprPercentMax);
  const perState = sets.flatMap((rules) => states.map((state) => rules.map((byState) => byState[state] ?? {})));
  return {
    stateCount: states.length,
    // Of several rules the strictest holds.
    stateAprCap: Float64Array.from(perState, (rules) =>
      Math.min(everywhere, ...rules.map(({ max_apr_percent }) => max_apr_percent ?? everywhere)),
    ),
    stateAmountMin: Float64Array.from(perState, (rules) => Math.max(...rules.map(({ min_amount }) => min_amount ?? 0))),
    stateAgeMin: Uint8Array.from(states, (state) => catalog.state_rules[state]?.min_age ?? 0),
    stateRuleSet,
  };
}
