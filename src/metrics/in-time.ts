import { bounds } from '../bounds.ts';

/** What a figure comes to; null where it fails or is not there in time, since no scrape may wait for what is in trouble. */
export async function withinScrapeTimeout<Value>(figure: Promise<Value>): Promise<Value | null> {
  const late = Promise.withResolvers<null>();
  const timer = setTimeout(() => late.resolve(null), bounds.scrapeReadTimeoutMs);
  try {
    return await Promise.race([figure, late.promise]);
  } catch {
    return null;
  } finally {
    clearTimeout(timer);
  }
}
