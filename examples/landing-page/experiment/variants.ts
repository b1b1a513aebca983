export type Variant = 'a' | 'b';

/** Format of the offers: a widget in a frame, a widget by script, or JSON that this page renders. */
export type EmbedFormat = 'iframe' | 'js' | 'json';

interface VariantConfig {
  readonly name: string;
  /**
   * Referrer tag of the sessions in analytics. A changed page needs a new tag, because old figures describe the old page. All products use
   * the same tags, because the analytics of an API key contain only the sessions of one vertical.
   */
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
