/** Two-letter USPS codes of the states, the District of Columbia and the territories (docs/contract.md#personal-loans-fields). */
export const usStateCodes = [
  'AL', 'AK', 'AZ', 'AR', 'CA', 'CO', 'CT', 'DE', 'DC', 'FL', 'GA', 'HI', 'ID', 'IL', 'IN', 'IA', 'KS', 'KY', 'LA', 'ME',
  'MD', 'MA', 'MI', 'MN', 'MS', 'MO', 'MT', 'NE', 'NV', 'NH', 'NJ', 'NM', 'NY', 'NC', 'ND', 'OH', 'OK', 'OR', 'PA', 'RI',
  'SC', 'SD', 'TN', 'TX', 'UT', 'VT', 'VA', 'WA', 'WV', 'WI', 'WY', 'PR', 'GU', 'VI', 'AS', 'MP',
] as const; // biome-ignore format: a table of codes reads better in rows

/** Ages of capacity to contract other than 18, in years, as the laws of the states set them. */
const contractAges: Readonly<Record<string, number>> = { AL: 19, MS: 21, NE: 19, PR: 21 };

/** Returns the age in years from which a person can make a contract in a US state; null for a code that is not a US state. */
export function getContractAge(state: string): number | null {
  return usStateCodes.some((code) => code === state) ? (contractAges[state] ?? 18) : null;
}
