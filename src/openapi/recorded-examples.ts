import { existsSync, readFileSync } from 'node:fs';
import type { PublicUrls } from '../config/service-settings.ts';

/** Requests and responses that `bin/write-openapi.ts` recorded from a running service, as JSON values. `iframeHtml` is a text. */
export type RecordedExamples = Readonly<Record<string, unknown>>;

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
