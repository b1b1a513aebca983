import { addDays } from '../common/format.ts';

/** Numbers of days that the filter offers, up to today. */
export const dayChoices = [1, 7, 30, 90] as const;

/** Sessions that a page shows: those of one tag, created on certain UTC days. */
export interface SessionFilter {
  /** Empty until the user or the page has chosen one. */
  readonly tag: string;
  /** Number of days up to today; null for own dates. */
  readonly days: number | null;
  readonly from: string;
  /** Last day; empty for today. */
  readonly to: string;
}

type Query = Readonly<Record<string, string>>;

const isDay = (text: string | undefined): text is string =>
  text !== undefined && /^\d{4}-\d{2}-\d{2}$/.test(text) && !Number.isNaN(Date.parse(`${text}T00:00:00Z`));

/**
 * Parses the filter of an address. Own dates (`from`, `to`) win over `days`. Invalid values count as absent.
 *
 * @param now time of the server
 */
export function parseSessionFilter(
  { tag = '', days, from, to }: Query,
  now: string,
  defaultDays: number,
): SessionFilter {
  const today = now.slice(0, 10);
  if (isDay(from)) return { tag, days: null, from, to: isDay(to) ? to : '' };
  const wanted = dayChoices.find((choice) => String(choice) === days) ?? defaultDays;
  return { tag, days: wanted, from: addDays(today, 1 - wanted), to: '' };
}

/** Returns the parameters of `GET /analytics` for a filter. */
export function toAnalyticsQuery({ tag, from, to }: SessionFilter) {
  return { referrer_tag: tag, date_from: from, date_to: to === '' ? null : to };
}

/** Returns the tag with the most sessions, or an empty text without tags. */
export function findBusiestTag(
  tags: readonly { readonly referrer_tag: string; readonly sessions_total: number }[],
): string {
  return tags.reduce((most, tag) => (tag.sessions_total > most.sessions_total ? tag : most), {
    referrer_tag: '',
    sessions_total: -1,
  }).referrer_tag;
}
