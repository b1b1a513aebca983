/** Text that is safe to send as HTML. Only `html` and `trustedHtml` make it. */
export class Html {
  readonly text: string;

  constructor(text: string) {
    this.text = text;
  }
}

/** What may stand in a template: text is escaped, HTML is not, lists are joined, and nothing comes of the rest. */
export type Slot = Html | string | number | false | null | undefined | readonly Slot[];

/**
 * A template whose slots are escaped, so that a forgotten call cannot let a visitor's words become markup. Attribute values
 * must stand in double quotes.
 */
export function html(strings: TemplateStringsArray, ...slots: readonly Slot[]): Html {
  return new Html(strings.reduce((text, string, place) => text + htmlOf(slots[place - 1]) + string));
}

/** For markup of somebody we trust with this page: here, the embed code the API answers. */
export function trustedHtml(text: string): Html {
  return new Html(text);
}

function htmlOf(slot: Slot): string {
  if (slot === false || slot === null || slot === undefined) return '';
  if (slot instanceof Html) return slot.text;
  if (typeof slot === 'string' || typeof slot === 'number') return escapeText(String(slot));
  return slot.map(htmlOf).join('');
}

const escapes: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
};

function escapeText(text: string): string {
  return text.replaceAll(/[&<>"']/g, (character) => escapes[character]!);
}
