/** A fresh id for one load of the widget: 8 random bytes as 16 lower-case hex digits. */
export function newLoadId(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(8));
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('');
}
