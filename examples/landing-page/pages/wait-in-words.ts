/** `10 seconds`, `3 minutes`, `2 hours`; never shorter than it is. */
export function formatWait(seconds: number): string {
  if (seconds < 90) return pluralize(Math.max(1, Math.ceil(seconds)), 'second');
  if (seconds < 90 * 60) return pluralize(Math.ceil(seconds / 60), 'minute');
  return pluralize(Math.ceil(seconds / 3_600), 'hour');
}

function pluralize(count: number, unit: string): string {
  return `${count} ${unit}${count === 1 ? '' : 's'}`;
}
