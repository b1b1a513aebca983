const whole = new Intl.NumberFormat('en-US', { style: 'currency', currency: 'USD', maximumFractionDigits: 0 });
const exact = new Intl.NumberFormat('en-US', { style: 'currency', currency: 'USD' });

/** `$10,000`: an amount in whole USD. */
export function wholeDollars(amount: number): string {
  return whole.format(amount);
}

/** `$341.48`: an amount to the cent. */
export function dollarsAndCents(amount: number): string {
  return exact.format(amount);
}
