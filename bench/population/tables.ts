import type { WeightedTable } from './random.ts';

/**
 * Published statistics from which borrowers are generated. README.md in this folder lists the sources and says which
 * values are approximate. All shares are percentages unless a comment says otherwise.
 */

/**
 * FICO Score 8 of US consumers, April 2017 (Fair Isaac Corporation): percentage of consumers per score range. `creditBands` assumes an
 * even distribution within each score range, because the credit bands of the API have different limits than the score ranges.
 */
const fico = { to499: 4.7, to549: 6.8, to599: 8.5, to649: 10.0, to699: 13.2, to749: 17.1, to799: 19.0, to850: 20.7 };
export const creditBands: WeightedTable<string> = [
  ['300-579', fico.to499 + fico.to549 + 0.6 * fico.to599],
  ['580-619', 0.4 * fico.to599 + 0.4 * fico.to649],
  ['620-659', 0.6 * fico.to649 + 0.2 * fico.to699],
  ['660-699', 0.8 * fico.to699],
  ['700-749', fico.to749],
  ['750-799', fico.to799],
  ['800+', fico.to850],
];

/**
 * Household money income of 2022 in USD (US Census Bureau, P60-279): upper limits of the lowest four quintiles, median, and lower limit of
 * the top 5 %. The first and the last entry of `incomeQuantiles` are assumptions. Each entry contains the share of households below an
 * income, and this income in USD.
 */
export const incomeQuantiles: readonly (readonly [share: number, usd: number])[] = [
  [0, 6_000],
  [0.2, 30_000],
  [0.4, 58_020],
  [0.5, 74_580],
  [0.6, 94_000],
  [0.8, 153_000],
  [0.95, 295_000],
  [1, 900_000],
];

/**
 * Approximate correlation of income and credit score, after both are converted to normal distributions. The FEDS Note "Are Income and
 * Credit Scores Highly Correlated?" (August 2018) describes the correlation as moderate.
 */
export const incomeCreditCorrelation = 0.3;

/** Loan purposes on a personal-loan marketplace in 2015 (LendingTree, 18 February 2016); see the README. */
export const loanPurposes: WeightedTable<string> = [
  ['debt_consolidation', 39.6 + 15.9],
  ['home_improvement', 7.3],
  ['major_purchase', 4.8 + 8.0],
  ['medical_expenses', 5.0],
  ['moving', 7.3],
  ['vacation', 3.1],
  ['wedding', 2.1],
  ['business', 2.7],
  ['other', 4.2],
];

/**
 * Mean requested amount by loan purpose in USD, 2018 (LendingTree). For loan purposes without a published mean, `others` contains the mean
 * of all purposes.
 */
export const meanLoanAmountUsd = { debt_consolidation: 12_670, home_improvement: 12_384, others: 10_575 };

/** Assumed standard deviation of the logarithm of the requested amount. */
export const loanAmountSigma = 0.7;

/**
 * Loan terms in months that borrowers request. More than half of borrowers request 36 months (LendingTree, 2018); the shares of other terms
 * are approximate.
 */
export const loanTermMonths: WeightedTable<number> = [
  [12, 8],
  [24, 12],
  [36, 53],
  [48, 7],
  [60, 17],
  [84, 3],
];

/** Ages of US adults, about 2022 (US Census Bureau, population estimates), approximate. */
export const adultAges: WeightedTable<readonly [youngest: number, oldest: number]> = [
  [[18, 24], 12],
  [[25, 34], 17],
  [[35, 44], 17],
  [[45, 54], 16],
  [[55, 64], 16],
  [[65, 74], 13],
  [[75, 90], 9],
];

/** Approximate share of retired people by age; about 19 % of all adults are retired. */
export function retiredShareByAge(ageYears: number): number {
  if (ageYears >= 65) return 0.75;
  return ageYears >= 55 ? 0.15 : 0;
}

/** Employment of adults who are not retired, about 2022 (BLS, Current Population Survey; self-employed with and without a corporation). */
export const employedStatuses: WeightedTable<string> = [
  ['employed', 54],
  ['self_employed', 6],
  ['other', 21],
];

/** Adults by housing status, about 2022 (Federal Reserve, SHED), approximate. */
export const housingStatuses: WeightedTable<string> = [
  ['own', 65],
  ['rent', 27],
  ['other', 8],
];

/** Residents by citizenship, about 2022 (US Census Bureau, ACS; DHS estimates of permanent residents), approximate. */
export const citizenshipStatuses: WeightedTable<string> = [
  ['citizen', 93],
  ['perm_resident', 5],
  ['visa', 2],
];

/** Highest education of people aged 25 and over, about 2022 (US Census Bureau, ACS), approximate. */
export const educationLevels: WeightedTable<string> = [
  ['high_school', 26],
  ['bachelors', 21],
  ['graduate', 14],
  ['other', 39],
];

/**
 * Monthly debt, including rent or mortgage, as a share of the gross monthly income. The debt share is assumed to have a triangular
 * distribution from 5 % to 60 %. The most frequent debt share is 30 %, because the median tenant spends 30 % of income on rent (ACS 2022).
 */
export const debtToIncomeDistribution = { lowest: 0.05, likeliest: 0.3, highest: 0.6 };

/**
 * US states and territories with their number of residents on 1 April 2020 (US Census Bureau). `zip` contains the first three digits of a
 * ZIP code (USPS).
 */
// biome-ignore format: several states per line keep the table short
export const residencePlaces: WeightedTable<{ readonly state: string; readonly zip: string }> = [
  [{ state: 'AL', zip: '350' }, 5_024_279], [{ state: 'AK', zip: '995' }, 733_391], [{ state: 'AZ', zip: '850' }, 7_151_502],
  [{ state: 'AR', zip: '720' }, 3_011_524], [{ state: 'CA', zip: '900' }, 39_538_223], [{ state: 'CO', zip: '802' }, 5_773_714],
  [{ state: 'CT', zip: '061' }, 3_605_944], [{ state: 'DE', zip: '197' }, 989_948], [{ state: 'DC', zip: '200' }, 689_545],
  [{ state: 'FL', zip: '331' }, 21_538_187], [{ state: 'GA', zip: '303' }, 10_711_908], [{ state: 'HI', zip: '968' }, 1_455_271],
  [{ state: 'ID', zip: '837' }, 1_839_106], [{ state: 'IL', zip: '606' }, 12_812_508], [{ state: 'IN', zip: '462' }, 6_785_528],
  [{ state: 'IA', zip: '503' }, 3_190_369], [{ state: 'KS', zip: '672' }, 2_937_880], [{ state: 'KY', zip: '402' }, 4_505_836],
  [{ state: 'LA', zip: '701' }, 4_657_757], [{ state: 'ME', zip: '041' }, 1_362_359], [{ state: 'MD', zip: '212' }, 6_177_224],
  [{ state: 'MA', zip: '021' }, 7_029_917], [{ state: 'MI', zip: '482' }, 10_077_331], [{ state: 'MN', zip: '554' }, 5_706_494],
  [{ state: 'MS', zip: '392' }, 2_961_279], [{ state: 'MO', zip: '631' }, 6_154_913], [{ state: 'MT', zip: '591' }, 1_084_225],
  [{ state: 'NE', zip: '681' }, 1_961_504], [{ state: 'NV', zip: '891' }, 3_104_614], [{ state: 'NH', zip: '031' }, 1_377_529],
  [{ state: 'NJ', zip: '071' }, 9_288_994], [{ state: 'NM', zip: '871' }, 2_117_522], [{ state: 'NY', zip: '100' }, 20_201_249],
  [{ state: 'NC', zip: '282' }, 10_439_388], [{ state: 'ND', zip: '581' }, 779_094], [{ state: 'OH', zip: '432' }, 11_799_448],
  [{ state: 'OK', zip: '731' }, 3_959_353], [{ state: 'OR', zip: '972' }, 4_237_256], [{ state: 'PA', zip: '191' }, 13_002_700],
  [{ state: 'RI', zip: '029' }, 1_097_379], [{ state: 'SC', zip: '292' }, 5_118_425], [{ state: 'SD', zip: '571' }, 886_667],
  [{ state: 'TN', zip: '372' }, 6_910_840], [{ state: 'TX', zip: '770' }, 29_145_505], [{ state: 'UT', zip: '841' }, 3_271_616],
  [{ state: 'VT', zip: '054' }, 643_077], [{ state: 'VA', zip: '232' }, 8_631_393], [{ state: 'WA', zip: '981' }, 7_705_281],
  [{ state: 'WV', zip: '253' }, 1_793_716], [{ state: 'WI', zip: '532' }, 5_893_718], [{ state: 'WY', zip: '820' }, 576_851],
  [{ state: 'PR', zip: '009' }, 3_285_874], [{ state: 'GU', zip: '969' }, 153_836], [{ state: 'VI', zip: '008' }, 87_146],
  [{ state: 'AS', zip: '967' }, 49_710], [{ state: 'MP', zip: '969' }, 47_329],
];

/** Assumed shares of people who fill in conditional and optional fields. */
export const fieldFillRates = {
  conditional: 0.85,
  monthly_debt_payments: 0.4,
  housing_status: 0.6,
  loan_term_months: 0.6,
  birthdate: 0.7,
  citizenship_status: 0.6,
  co_borrower: 0.3,
  education_level: 0.3,
  address_zip: 0.4,
};

/** Assumed share of people with a co-borrower. */
export const coBorrowerProbability = 0.25;
