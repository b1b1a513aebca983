const cents = new Intl.NumberFormat('en-US', { style: 'currency', currency: 'USD' });
const whole = new Intl.NumberFormat('en-US', { style: 'currency', currency: 'USD', maximumFractionDigits: 0 });
const plain = new Intl.NumberFormat('en-US');
const percents = new Intl.NumberFormat('en-US', {
  style: 'percent',
  minimumFractionDigits: 1,
  maximumFractionDigits: 1,
});

/** `$541.30` */
export const dollars = (usd: number): string => cents.format(usd);
/** `$15,000` */
export const wholeDollars = (usd: number): string => whole.format(usd);
/** `1,204` */
export const count = (number: number): string => plain.format(number);
/** `12.3%` of a ratio. */
export const share = (ratio: number): string => percents.format(ratio);
