import {
  chance,
  drawStandardNormal,
  pickAtQuantile,
  pickRandomByWeight,
  type Random,
  standardNormalCdf,
  wholeNumber,
} from './random.ts';
import {
  adultAges,
  citizenshipStatuses,
  coBorrowerProbability,
  creditBands,
  debtToIncomeDistribution,
  educationLevels,
  employedStatuses,
  fieldFillRates,
  housingStatuses,
  incomeCreditCorrelation,
  incomeQuantiles,
  loanAmountSigma,
  loanPurposes,
  loanTermMonths,
  meanLoanAmountUsd,
  residencePlaces,
  retiredShareByAge,
} from './tables.ts';

/** Form inputs of a borrower: `fields` of `POST /inputs` (docs/contract.md#personal-loans-fields). */
export interface Borrower {
  loan_amount: number;
  loan_purpose: string;
  credit_score_range: string;
  annual_income: number;
  employment_status: string;
  state: string;
  birthdate?: string;
  housing_status?: string;
  monthly_debt_payments?: number;
  loan_term_months?: number;
  co_borrower?: boolean;
  citizenship_status?: string;
  education_level?: string;
  address_zip?: string;
}

/** Year from which birthdates are computed. The year is fixed, so that a seed always generates the same borrowers. */
const ageReferenceYear = 2025;

/**
 * Generates a random borrower of the population that README.md describes. The six required fields are always present. Optional and
 * conditional fields are present with the probabilities in `fieldFillRates`.
 */
export function createRandomBorrower(random: Random): Borrower {
  // Draws two correlated normal values, which are then converted to the published distributions of credit score and income.
  const creditScore = drawStandardNormal(random);
  const incomeScore =
    incomeCreditCorrelation * creditScore + Math.sqrt(1 - incomeCreditCorrelation ** 2) * drawStandardNormal(random);
  const annualIncome = incomeAtShare(standardNormalCdf(incomeScore));
  const purpose = pickRandomByWeight(random, loanPurposes);
  const place = pickRandomByWeight(random, residencePlaces);
  const [youngest, oldest] = pickRandomByWeight(random, adultAges);
  const age = wholeNumber(random, youngest, oldest);

  const borrower: Borrower = {
    loan_amount: drawLoanAmount(random, purpose),
    loan_purpose: purpose,
    credit_score_range: pickAtQuantile(creditBands, standardNormalCdf(creditScore)),
    annual_income: annualIncome,
    employment_status: chance(random, retiredShareByAge(age))
      ? 'retired'
      : pickRandomByWeight(random, employedStatuses),
    state: place.state,
  };
  const debtFilledIn =
    purpose === 'debt_consolidation' ? fieldFillRates.conditional : fieldFillRates.monthly_debt_payments;
  if (chance(random, debtFilledIn)) borrower.monthly_debt_payments = drawMonthlyDebt(random, annualIncome);
  const housingFilledIn = purpose === 'home_improvement' ? fieldFillRates.conditional : fieldFillRates.housing_status;
  if (chance(random, housingFilledIn)) borrower.housing_status = pickRandomByWeight(random, housingStatuses);
  if (chance(random, fieldFillRates.loan_term_months))
    borrower.loan_term_months = pickRandomByWeight(random, loanTermMonths);
  if (chance(random, fieldFillRates.birthdate)) borrower.birthdate = drawBirthdate(random, age);
  if (chance(random, fieldFillRates.citizenship_status))
    borrower.citizenship_status = pickRandomByWeight(random, citizenshipStatuses);
  if (chance(random, fieldFillRates.co_borrower)) borrower.co_borrower = chance(random, coBorrowerProbability);
  if (chance(random, fieldFillRates.education_level))
    borrower.education_level = pickRandomByWeight(random, educationLevels);
  if (chance(random, fieldFillRates.address_zip)) {
    borrower.address_zip = place.zip + String(wholeNumber(random, 0, 99)).padStart(2, '0');
  }
  return borrower;
}

/** Returns the yearly household income at a quantile of the income distribution, rounded to 100 USD. */
function incomeAtShare(share: number): number {
  const upper = incomeQuantiles.findIndex(([quantile]) => share <= quantile);
  const [toShare, toUsd] = incomeQuantiles[Math.max(upper, 1)]!;
  const [fromShare, fromUsd] = incomeQuantiles[Math.max(upper, 1) - 1]!;
  // Interpolates the income geometrically between two entries of `incomeQuantiles`.
  const usd = fromUsd * (toUsd / fromUsd) ** ((share - fromShare) / (toShare - fromShare));
  return Math.round(usd / 100) * 100;
}

function drawLoanAmount(random: Random, purpose: string): number {
  const means: Readonly<Record<string, number>> = meanLoanAmountUsd;
  const mean = means[purpose] ?? meanLoanAmountUsd.others;
  // The mean of a log-normal distribution is its median times exp(spread^2 / 2).
  const usd = mean * Math.exp(loanAmountSigma * drawStandardNormal(random) - loanAmountSigma ** 2 / 2);
  return Math.min(100_000, Math.max(1_000, Math.round(usd / 100) * 100));
}

function drawMonthlyDebt(random: Random, annualIncome: number): number {
  const { lowest, likeliest, highest } = debtToIncomeDistribution;
  const at = random();
  const width = highest - lowest;
  const share =
    at < (likeliest - lowest) / width
      ? lowest + Math.sqrt(at * width * (likeliest - lowest))
      : highest - Math.sqrt((1 - at) * width * (highest - likeliest));
  return Math.round((share * annualIncome) / 12);
}

function drawBirthdate(random: Random, age: number): string {
  const month = String(wholeNumber(random, 1, 12)).padStart(2, '0');
  const day = String(wholeNumber(random, 1, 28)).padStart(2, '0');
  return `${ageReferenceYear - age - 1}-${month}-${day}`;
}
