/** The bytes of a widget load's id, which is written as 16 lower-case hex digits; null for anything else. */
export function parseWidgetLoadId(text: unknown): Buffer | null {
  return typeof text === 'string' && /^[0-9a-f]{16}$/.test(text) ? Buffer.from(text, 'hex') : null;
}
