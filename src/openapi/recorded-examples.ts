import { existsSync, readFileSync } from 'node:fs';
import type { PublicUrls } from '../config/config.ts';

/** Requests and responses that `bin/write-openapi.ts` recorded from a running service, as JSON values. */
export interface RecordedExamples {
  readonly sessionRequest: unknown;
  readonly session: unknown;
  readonly inputsRequest: unknown;
  readonly inputs: unknown;
  /** Recorded response body of an `INVALID_FIELD_VALUE` error. */
  readonly invalidFields: unknown;
  readonly offers: unknown;
  readonly explained: unknown;
  readonly iframe: unknown;
  readonly js: unknown;
  readonly iframeHtml: string;
  readonly widgetOffers: unknown;
  readonly widgetBeacon: unknown;
  readonly summary: unknown;
  readonly daily: unknown;
  readonly rows: unknown;
  readonly tags: unknown;
}

/** Placeholders for base URLs in the recorded examples; `readRecordedExamples` replaces the placeholders with the real base URLs. */
export const placeholderUrls: PublicUrls = {
  public: 'http://public.invalid',
  click: 'http://click.invalid',
  widget: 'http://widget.invalid',
  cdn: 'http://cdn.invalid',
};

export function recordedExamplesUrl(segment: string): URL {
  return new URL(`./examples/${segment}.json`, import.meta.url);
}

/** Returns the recorded examples of a vertical, with the URLs of this service; null if no examples were recorded. */
export function readRecordedExamples(segment: string, urls: PublicUrls): RecordedExamples | null {
  const file = recordedExamplesUrl(segment);
  if (!existsSync(file)) return null;
  let text = readFileSync(file, 'utf8');
  for (const name of Object.keys(placeholderUrls) as (keyof PublicUrls)[]) {
    text = text.replaceAll(placeholderUrls[name], urls[name]);
  }
  return JSON.parse(text) as RecordedExamples;
}
