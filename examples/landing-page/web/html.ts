/** Text that is safe to send as HTML. Only `html` and `trustedHtml` create instances. */
export class Html {
  readonly text: string;

  constructor(text: string) {
    this.text = text;
  }
}

/** Value in a template. Text is escaped, HTML is not, lists are joined, and other values produce no output. */
export type Slot = Html | string | number | false | null | undefined | readonly Slot[];

/**
 * Template tag that escapes text in its slots, so that input of a visitor cannot become markup. Attribute values must be in double quotes.
 */
export function html(strings: TemplateStringsArray, ...slots: readonly Slot[]): Html {
  return new Html(strings.reduce((text, string, place) => text + htmlOf(slots[place - 1]) + string));
}

/** Marks markup of a trusted source as safe, such as the embed code of the API. */
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
