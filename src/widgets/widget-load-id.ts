/** What a widget load's id may be, as the text of a regular expression. */
export const widgetLoadIdPattern = '^[0-9a-f]{16}$';

const loadIdRegex = new RegExp(widgetLoadIdPattern);

/** The bytes of a widget load's id, which is written as 16 lower-case hex digits; null for anything else. */
export function parseWidgetLoadId(text: unknown): Buffer | null {
  return typeof text === 'string' && loadIdRegex.test(text) ? Buffer.from(text, 'hex') : null;
}
