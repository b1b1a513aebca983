import { isUtf8 } from 'node:buffer';
import { hash } from 'node:crypto';
import { type FileHandle, open, stat } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { buffer } from 'node:stream/consumers';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { bounds } from '../bounds.ts';
import { contentHash } from '../domain/compressed-file.ts';
import { describeOpenError, findFileTypeProblem, openWithoutWaiting, tooLargeProblem } from '../files/regular-file.ts';
import { findSvgProblem } from './find-svg-problem.ts';

export interface Lender {
  readonly name: string;
  readonly logo: string;
}

/** Logo that the server can send. Two files with the same name but different content are two logos. */
export interface Logo {
  readonly file: string;
  /** First hexadecimal digits of the SHA-256 hash of the file content. */
  readonly hash: string;
  readonly svg: Uint8Array;
}

export function createLogo(file: string, svg: Uint8Array): Logo {
  return { file, hash: contentHash(svg), svg };
}

/** Reads a logo file. Returns the reason if the file cannot be used, phrased to follow the file name. Never rejects. */
async function readLogo(folder: string, name: string): Promise<Logo | string> {
  const path = join(folder, name);
  let file: FileHandle | null = null;
  try {
    const typeProblem = findFileTypeProblem(await stat(path));
    if (typeProblem !== null) return typeProblem;
    file = await open(path, openWithoutWaiting);
    const stats = await file.stat();
    if (!stats.isFile()) return 'is not a regular file';
    if (stats.size > bounds.logoFileBytesMax) return tooLargeProblem(bounds.logoFileBytesMax);
    // Reads at most one byte more than allowed, because the file may have grown since its size was checked.
    const svg = await buffer(file.createReadStream({ end: bounds.logoFileBytesMax, autoClose: false }));
    if (svg.length > bounds.logoFileBytesMax) return tooLargeProblem(bounds.logoFileBytesMax);
    if (!isUtf8(svg)) return 'is not a valid SVG image: it is not UTF-8';
    const problem = findSvgProblem(svg.toString());
    return problem === null ? createLogo(name, svg) : `is not a valid SVG image: it ${problem}`;
  } catch (error) {
    return describeOpenError(path, error);
  } finally {
    await file?.close().catch(() => {});
  }
}

/** Reason why a lender gets a monogram instead of its logo file. `problem` follows the file name, such as `does not exist`. */
interface LogoProblem {
  readonly lenderIndex: number;
  readonly file: string;
  readonly problem: string;
}

/** Images of all lenders. A lender without a valid logo file has a monogram. */
export interface LogoSet {
  /** Logos by lender name. */
  readonly logos: ReadonlyMap<string, Logo>;
  readonly problems: readonly LogoProblem[];
  readonly folderFound: boolean;
}

export function logoFolder(catalogFile: string): string {
  return join(dirname(catalogFile), 'logos');
}

/**
 * Reads the logos of lenders, and renders monograms for lenders without a valid file. If the catalog was not read from a file, `folder` is
 * null: all lenders get monograms and no problems are reported. Yields to the event loop between files.
 */
export async function readLogos(folder: string | null, lenders: readonly Lender[]): Promise<LogoSet> {
  const logos = new Map<string, Logo>();
  const problems: LogoProblem[] = [];
  const folderFound = folder !== null && (await isFolder(folder));
  // Logo files read so far, by file name. Several lenders may use the same file.
  const files = new Map<string, Logo | string>();
  for (const [at, { name, logo: file }] of lenders.entries()) {
    if (at % bounds.monogramsPerTurn === bounds.monogramsPerTurn - 1) await nextTurn();
    let found = files.get(file) ?? null;
    if (found === null && folderFound) {
      found = files.size < bounds.logoFilesPerCatalogMax ? await readLogo(folder, file) : tooManyFiles;
      files.set(file, found);
    }
    if (found !== null && typeof found !== 'string') {
      logos.set(name, found);
      continue;
    }
    logos.set(name, createLogo(file, Buffer.from(renderMonogram(name))));
    if (folder !== null) problems.push({ lenderIndex: at, file, problem: found ?? 'does not exist' });
  }
  return { logos, problems, folderFound };
}

const tooManyFiles = `is ignored: a catalog has at most ${bounds.logoFilesPerCatalogMax} logo files`;

async function isFolder(path: string): Promise<boolean> {
  try {
    return (await stat(path)).isDirectory();
  } catch {
    return false;
  }
}

/** Background colors of monograms. The contrast ratio of each color is at least 4.5 with white letters and at least 3 with a dark page. */
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
 * Renders an SVG image that replaces a missing logo: the initials of the lender on a color that depends only on the lender's name. Whatever
 * the lender name contains, the image is well-formed XML without scripts.
 */
export function renderMonogram(lenderName: string): string {
  const letters = initialsOf(lenderName);
  const nameHash = Number.parseInt(hash('sha256', lenderName, 'hex').slice(0, 8), 16);
  const color = monogramColors[nameHash % monogramColors.length];
  const mark =
    letters === ''
      ? '<circle cx="32" cy="32" r="9" fill="#fff"/>'
      : `<text x="32" y="32" dy=".35em" fill="#fff" font-family="${fonts}" font-size="${[...letters].length > 1 ? 24 : 32}" font-weight="600" text-anchor="middle">${escapeXml(letters)}</text>`;
  return `<svg xmlns="http://www.w3.org/2000/svg" width="64" height="64" viewBox="0 0 64 64" role="img"><title>${escapeXml(lenderName)}</title><rect width="64" height="64" rx="14" fill="${color}"/>${mark}</svg>`;
}

/** Returns the initials of the first two words in upper case, or an empty string if the name has no letters and digits. */
export function initialsOf(name: string): string {
  const words = name.match(/[\p{L}\p{N}][\p{L}\p{M}\p{N}'’.-]*/gu) ?? [];
  return words
    .slice(0, 2)
    .map((word) => [...([...word][0] as string).toUpperCase()][0])
    .join('');
}

/** Escapes text for use between XML tags. A character that XML does not allow is replaced by U+FFFD. */
function escapeXml(text: string): string {
  return text
    .replaceAll(/[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\u{10000}-\u{10ffff}]/gu, '\ufffd')
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;');
}
