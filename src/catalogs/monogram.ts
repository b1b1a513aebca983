import { hash } from 'node:crypto';

/** Background colors of monograms. The contrast is at least 4.5 to 1 to the white letters and at least 3 to 1 to a dark page. */
export const monogramColors = [
  '#55677f',
  '#616196',
  '#735b91',
  '#87557a',
  '#8c5057',
  '#86563c',
  '#766026',
  '#5d6a33',
  '#3f6f4f',
  '#2f6f69',
  '#35698a',
  '#5f6368',
] as const;

const fonts = "system-ui,-apple-system,'Segoe UI',Roboto,'Helvetica Neue',Arial,sans-serif";

/**
 * Renders an SVG image that replaces a missing logo: the initials of the lender on a color that depends only on the lender's name. The
 * image is well-formed and has no scripts, whatever the name contains.
 */
export function renderMonogram(lenderName: string): string {
  const letters = initials(lenderName);
  const nameHash = Number.parseInt(hash('sha256', lenderName, 'hex').slice(0, 8), 16);
  const color = monogramColors[nameHash % monogramColors.length];
  const mark =
    letters === ''
      ? '<circle cx="32" cy="32" r="9" fill="#fff"/>'
      : `<text x="32" y="32" dy=".35em" fill="#fff" font-family="${fonts}" font-size="${[...letters].length > 1 ? 24 : 32}" font-weight="600" text-anchor="middle">${escapeXml(letters)}</text>`;
  return `<svg xmlns="http://www.w3.org/2000/svg" width="64" height="64" viewBox="0 0 64 64" role="img"><title>${escapeXml(lenderName)}</title><rect width="64" height="64" rx="14" fill="${color}"/>${mark}</svg>`;
}

/** Returns the first letters of the first two words, in upper case; empty for a name without letters and digits. */
export function initials(name: string): string {
  const words = name.match(/[\p{L}\p{N}][\p{L}\p{M}\p{N}'’.-]*/gu) ?? [];
  return words
    .slice(0, 2)
    .map((word) => [...([...word][0] as string).toUpperCase()][0])
    .join('');
}

/** Escapes text between tags. Replaces characters that XML does not allow. */
function escapeXml(text: string): string {
  return text
    .replaceAll(/[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\u{10000}-\u{10ffff}]/gu, '\ufffd')
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;');
}
