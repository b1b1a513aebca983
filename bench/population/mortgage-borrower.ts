import { usStateCodes } from '../../src/verticals/us-states.ts';
import { chance, pickRandomByWeight, type Random, wholeNumber } from './random.ts';

/**
 * Draws the form inputs of a plausible mortgage borrower: `fields` of `POST /inputs` (docs/verticals/mortgage.md#fields). The shares are
 * chosen by us.
 */
export function createRandomMortgageBorrower(random: Random): Record<string, unknown> {
  const purpose = pickRandomByWeight(random, [
    ['purchase', 0.6],
    ['refinance', 0.25],
    ['cash_out', 0.15],
  ]);
  const value = Math.round((120_000 + 380_000 * random() + 1_200_000 * random() ** 6) / 1_000) * 1_000;
  return {
    loan_purpose: purpose,
    property_type: pickRandomByWeight(random, [
      ['single_family', 0.65],
      ['condo', 0.15],
      ['townhouse', 0.1],
      ['multi_family', 0.06],
      ['manufactured', 0.04],
    ]),
    occupancy: pickRandomByWeight(random, [
      ['primary', 0.85],
      ['second_home', 0.06],
      ['investment', 0.09],
    ]),
    property_value: value,
    credit_score_range: pickRandomByWeight(random, [
      ['300-579', 0.04],
      ['580-619', 0.06],
      ['620-659', 0.12],
      ['660-699', 0.18],
      ['700-749', 0.24],
      ['750-799', 0.24],
      ['800+', 0.12],
    ]),
    annual_income: Math.round((value * (0.15 + 0.35 * random())) / 1_000) * 1_000,
    state: usStateCodes[wholeNumber(random, 0, usStateCodes.length - 1)],
    ...createLoanFields(random, purpose, value),
    ...(chance(random, 0.9) ? { monthly_debt_payments: wholeNumber(random, 0, 15) * 100 } : {}),
    ...(chance(random, 0.4)
      ? {
          loan_term_months: pickRandomByWeight(random, [
            [360, 0.6],
            [180, 0.25],
            [240, 0.08],
            [300, 0.04],
            [120, 0.03],
          ]),
        }
      : {}),
    ...(chance(random, 0.2) ? { rate_type: chance(random, 0.8) ? 'fixed' : 'adjustable' } : {}),
    ...(chance(random, 0.7) ? { veteran: chance(random, 0.12) } : {}),
    ...(chance(random, 0.7) ? { first_time_buyer: chance(random, 0.35) } : {}),
    ...(chance(random, 0.6)
      ? { birthdate: `${wholeNumber(random, 1940, 2004)}-0${wholeNumber(random, 1, 9)}-15` }
      : {}),
  };
}

function createLoanFields(random: Random, purpose: string, value: number): Record<string, number> {
  if (purpose === 'purchase') {
    const share = pickRandomByWeight(random, [
      [0.03, 0.1],
      [0.05, 0.2],
      [0.1, 0.2],
      [0.2, 0.35],
      [0.4, 0.15],
    ]);
    return { down_payment: Math.round(value * share) };
  }
  const balance = Math.round(value * (0.2 + 0.6 * random()));
  if (purpose === 'refinance') return { mortgage_balance: balance };
  return { mortgage_balance: balance, cash_out_amount: Math.max(1, Math.round((value - balance) * 0.4 * random())) };
}
