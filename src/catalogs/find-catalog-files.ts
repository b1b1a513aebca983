import { readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { OperatorError } from '../domain/operator-error.ts';
import type { Vertical } from '../domain/vertical.ts';
import { describeOpenError } from '../files/regular-file.ts';
import { parseCatalogJson, readCatalogText } from './parse-catalog.ts';
import type { VerticalRegistry } from './vertical-registry.ts';

interface CatalogFileOfVertical {
  readonly vertical: Vertical;
  readonly file: string;
}

/**
 * Returns the vertical that a parsed catalog names. For an unknown name, returns the first available vertical; the validation of this
 * vertical then reports the unknown name.
 */
export function findVerticalOfCatalog(value: unknown, { verticals }: VerticalRegistry): Vertical {
  return findNamedVertical(value, verticals) ?? verticals[0]!;
}

function findNamedVertical(value: unknown, verticals: readonly Vertical[]): Vertical | undefined {
  const segment = (value as { vertical?: unknown } | null)?.vertical;
  return verticals.find((vertical) => vertical.segment === segment);
}

/**
 * Finds the catalog files of a path: the path itself, or all files of a folder whose names end with `.json` and do not start with a dot.
 * Links to files are followed. Reads from each file only the name of its vertical; the content is validated later, when the service reads
 * the catalog.
 *
 * @throws OperatorError if a folder contains no catalog, two catalogs of one vertical, or a catalog that is not a readable JSON file
 */
export function findCatalogFiles(path: string, registry: VerticalRegistry): CatalogFileOfVertical[] {
  if (!isFolder(path)) {
    const read = readCatalogText(path);
    const parsed = read.ok ? parseCatalogJson(read.text) : null;
    return [{ vertical: findVerticalOfCatalog(parsed?.ok ? parsed.value : null, registry), file: path }];
  }
  const files = listCatalogFileNames(path).map((name) => join(path, name));
  if (files.length === 0)
    throw new OperatorError(`the folder ${path} contains no catalog (see SVC_CATALOG): no file name ends with .json`);
  const found = new Map<Vertical, string>();
  for (const file of files) {
    const vertical = readVerticalOfFile(file, registry);
    const other = found.get(vertical);
    if (other !== undefined) {
      throw new OperatorError(
        `${other} and ${file} are both catalogs of ${vertical.segment}; keep one of them (see SVC_CATALOG)`,
      );
    }
    found.set(vertical, file);
  }
  return [...found].map(([vertical, file]) => ({ vertical, file }));
}

function isFolder(path: string): boolean {
  try {
    return statSync(path).isDirectory();
  } catch {
    // The read of the path reports the reason.
    return false;
  }
}

/** Lists the names of catalog files. Hidden files are temporary files of editors and of other programs. */
function listCatalogFileNames(folder: string): string[] {
  try {
    return readdirSync(folder)
      .filter((name) => name.endsWith('.json') && !name.startsWith('.'))
      .sort();
  } catch (error) {
    throw new OperatorError(`the folder ${folder} ${describeOpenError(folder, error)} (see SVC_CATALOG)`);
  }
}

function readVerticalOfFile(file: string, { verticals }: VerticalRegistry): Vertical {
  const read = readCatalogText(file);
  if (!read.ok) throw unusableFile(file, read.problem);
  const parsed = parseCatalogJson(read.text);
  if (!parsed.ok) throw unusableFile(file, parsed.errors.listed[0]!.problem);
  const vertical = findNamedVertical(parsed.value, verticals);
  if (vertical !== undefined) return vertical;
  const names = verticals.map(({ segment }) => segment);
  throw unusableFile(file, `must have the member vertical with one of ${names.join(', ')}`);
}

function unusableFile(file: string, problem: string): OperatorError {
  return new OperatorError(`the catalog ${file} cannot be used (see SVC_CATALOG): ${problem}`);
}
