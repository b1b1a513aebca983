const dollarsAndCents = new Intl.NumberFormat('en-US', { style: 'currency', currency: 'USD' });
const wholeDollarsFormat = new Intl.NumberFormat('en-US', { style: 'currency', currency: 'USD', maximumFractionDigits: 0 });
const plainNumber = new Intl.NumberFormat('en-US');
const percentFormat = new Intl.NumberFormat('en-US', {
  style: 'percent',
  minimumFractionDigits: 1,
  maximumFractionDigits: 1,
});

/** `$541.30` */
export const formatDollars = (usd: number): string => dollarsAndCents.format(usd);
/** `$15,000` */
export const formatWholeDollars = (usd: number): string => wholeDollarsFormat.format(usd);
/** `1,204` */
export const formatCount = (number: number): string => plainNumber.format(number);
/** `12.3%` of a ratio. */
export const formatPercent = (ratio: number): string => percentFormat.format(ratio);
