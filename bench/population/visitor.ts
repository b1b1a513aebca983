import type { Vertical } from '../../src/domain/vertical.ts';
import { banking } from '../../src/verticals/banking/banking.ts';
import { creditCards } from '../../src/verticals/credit-cards/credit-cards.ts';
import { findAdvisor } from '../../src/verticals/find-advisor/find-advisor.ts';
import { mortgage } from '../../src/verticals/mortgage/mortgage.ts';
import { createRandomBorrower } from './borrower.ts';
import { pickRandomByWeight, type Random, wholeNumber } from './random.ts';

/** Random visitors of a vertical other than personal loans, for the benchmarks. */
export interface VisitorPopulation {
  readonly vertical: Vertical;
  /** Name of an integer field that requests change to make a new ranking of the session necessary. */
  readonly changedField: string;
  createVisitor(random: Random): Record<string, unknown>;
}

/** Returns the fields that all verticals with a credit band share, with the distributions of bench/population/README.md. */
function createApplicant(random: Random) {
  const { credit_score_range, annual_income, state } = createRandomBorrower(random);
  return { credit_score_range, annual_income, state };
}

const roundTo = (step: number, value: number) => step * Math.round(value / step);

/** Populations of the verticals that have no published statistics of their visitors; the shares are chosen by us. */
export const visitorPopulations: readonly VisitorPopulation[] = [
  {
    vertical: creditCards,
    changedField: 'annual_income',
    createVisitor(random) {
      const purpose = pickRandomByWeight(random, [
        ['cash_back', 40],
        ['travel', 25],
        ['balance_transfer', 20],
        ['low_interest', 15],
      ] as const);
      const amount = roundTo(50, wholeNumber(random, 200, 6_000));
      return {
        card_purpose: purpose,
        ...createApplicant(random),
        ...(purpose === 'balance_transfer' && { transfer_amount: amount }),
        ...(purpose === 'low_interest' && { carried_balance: amount }),
        ...((purpose === 'cash_back' || purpose === 'travel') && { monthly_spend: amount }),
      };
    },
  },
  {
    vertical: mortgage,
    changedField: 'annual_income',
    createVisitor(random) {
      const value = roundTo(5_000, wholeNumber(random, 150_000, 900_000));
      const isPurchase = random() < 0.7;
      return {
        loan_purpose: isPurchase ? 'purchase' : 'refinance',
        property_type: 'single_family',
        occupancy: 'primary',
        property_value: value,
        ...(isPurchase
          ? { down_payment: roundTo(1_000, value * (0.05 + 0.3 * random())) }
          : { mortgage_balance: roundTo(1_000, value * (0.3 + 0.5 * random())) }),
        ...createApplicant(random),
        monthly_debt_payments: roundTo(50, wholeNumber(random, 0, 1_500)),
      };
    },
  },
  {
    vertical: banking,
    changedField: 'deposit_amount',
    createVisitor(random) {
      const type = pickRandomByWeight(random, [
        ['savings', 45],
        ['checking', 15],
        ['money_market', 15],
        ['cd', 25],
      ] as const);
      return {
        product_type: type,
        deposit_amount: roundTo(100, wholeNumber(random, 500, 60_000)),
        state: createRandomBorrower(random).state,
        ...(type === 'cd' && {
          cd_term_months: pickRandomByWeight(random, [
            [6, 1],
            [12, 2],
            [24, 1],
          ] as const),
        }),
        new_customer: random() < 0.8,
        direct_deposit: random() < 0.5,
      };
    },
  },
  {
    vertical: findAdvisor,
    changedField: 'investable_assets',
    createVisitor(random) {
      return {
        advice_topic: pickRandomByWeight(random, [
          ['retirement', 40],
          ['investing', 30],
          ['tax', 10],
          ['estate', 10],
          ['college', 10],
        ] as const),
        investable_assets: roundTo(1_000, wholeNumber(random, 20_000, 1_500_000)),
        state: createRandomBorrower(random).state,
        meeting_preference: pickRandomByWeight(random, [
          ['either', 60],
          ['remote', 30],
          ['in_person', 10],
        ] as const),
      };
    },
  },
];
