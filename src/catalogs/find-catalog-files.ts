import { readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { OperatorError } from '../domain/operator-error.ts';
import { availableVerticals } from '../verticals/registry.ts';
import type { Vertical } from '../verticals/vertical.ts';
import { parseCatalogJson, readCatalogText } from './parse-catalog.ts';

interface CatalogFileOfVertical {
  readonly vertical: Vertical;
  readonly file: string;
}

/**
 * Returns the vertical that a parsed catalog names. For an unknown name, returns the first available vertical; the validation of this
 * vertical then reports the unknown name.
 */
export function findVerticalOfCatalog(value: unknown): Vertical {
  const segment = (value as { vertical?: unknown } | null)?.vertical;
  return availableVerticals().find((vertical) => vertical.segment === segment) ?? availableVerticals()[0]!;
}

/**
 * Finds the catalog files of a path: the path itself, or all files of a folder whose names end with `.json`. Reads from each file only the
 * name of its vertical; the content is validated later, when the service reads the catalog.
 *
 * @throws OperatorError if a folder contains no catalog, or two catalogs of one vertical
 */
export function findCatalogFiles(path: string): CatalogFileOfVertical[] {
  const isFolder = statSync(path, { throwIfNoEntry: false })?.isDirectory() ?? false;
  const files = isFolder ? listCatalogFileNames(path).map((name) => join(path, name)) : [path];
  if (files.length === 0)
    throw new OperatorError(`the folder ${path} contains no catalog (see SVC_CATALOG): no file name ends with .json`);
  const found = new Map<Vertical, string>();
  for (const file of files) {
    const vertical = readVerticalOfFile(file);
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

function listCatalogFileNames(folder: string): string[] {
  return readdirSync(folder)
    .filter((name) => name.endsWith('.json'))
    .sort();
}

function readVerticalOfFile(file: string): Vertical {
  const read = readCatalogText(file);
  const parsed = read.ok ? parseCatalogJson(read.text) : null;
  return findVerticalOfCatalog(parsed?.ok ? parsed.value : null);
}
