const wholeDollarFormat = new Intl.NumberFormat('en-US', { style: 'currency', currency: 'USD', maximumFractionDigits: 0 });
const centFormat = new Intl.NumberFormat('en-US', { style: 'currency', currency: 'USD' });

/** `$10,000`: an amount in whole USD. */
export function formatDollars(amount: number): string {
  return wholeDollarFormat.format(amount);
}

/** `$341.48`: an amount to the cent. */
export function formatDollarsAndCents(amount: number): string {
  return centFormat.format(amount);
}
