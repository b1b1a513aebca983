import { randomInt } from 'node:crypto';

export type Variant = 'a' | 'b';

/** How the offers get into the page. */
export type EmbedFormat = 'iframe' | 'js' | 'json';

interface VariantConfig {
  readonly name: string;
  /** What the API counts this variant under. A changed page deserves a new tag: old figures tell of the old page. */
  readonly referrerTag: string;
  readonly idea: string;
  readonly embed: EmbedFormat;
}

export const variants: Readonly<Record<Variant, VariantConfig>> = {
  a: { name: 'A', referrerTag: 'lp-calm-form', idea: 'one calm form, offers in the widget', embed: 'iframe' },
  b: { name: 'B', referrerTag: 'lp-quick-quiz', idea: 'one question at a time, offers as cards', embed: 'json' },
};

export function parseVariant(text: string | null | undefined): Variant | null {
  return text === 'a' || text === 'b' ? text : null;
}

export function parseEmbedFormat(text: string | null | undefined): EmbedFormat | null {
  return text === 'iframe' || text === 'js' || text === 'json' ? text : null;
}

/** Half of the visitors each, and nothing about a visitor plays a part in it. */
export function drawVariant(): Variant {
  return randomInt(2) === 0 ? 'a' : 'b';
}
