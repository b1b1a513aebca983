import { formatCount, noValue, unitSpace } from '../../common/format.ts';

const byteUnits = ['bytes', 'kB', 'MB', 'GB', 'TB', 'PB'];

/** Formats a number of bytes: `41.3 GB`. */
export function formatBytes(bytes: number | null): string {
  if (bytes === null) return noValue;
  const power = Math.min(byteUnits.length - 1, Math.max(0, Math.floor(Math.log10(Math.max(1, bytes)) / 3)));
  const value = bytes / 1_000 ** power;
  return `${power === 0 ? formatCount(value) : value.toFixed(1)}${unitSpace}${byteUnits[power]}`;
}

const timeUnits = [
  { name: 'day', seconds: 86_400 },
  { name: 'hour', seconds: 3_600 },
  { name: 'minute', seconds: 60 },
  { name: 'second', seconds: 1 },
] as const;

/** Formats a time span in its two largest units: `3 days 4 hours`. */
export function formatDuration(seconds: number): string {
  let rest = Math.max(0, Math.floor(seconds));
  const parts: string[] = [];
  for (const unit of timeUnits) {
    const count = Math.floor(rest / unit.seconds);
    rest -= count * unit.seconds;
    if (count > 0) parts.push(`${formatCount(count)}${unitSpace}${unit.name}${count === 1 ? '' : 's'}`);
    else if (parts.length > 0) break;
    if (parts.length === 2) break;
  }
  return parts.join(' ') || `0${unitSpace}seconds`;
}
