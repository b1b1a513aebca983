import { fileURLToPath } from 'node:url';
import type { CatalogSource } from '../catalogs/catalog-store.ts';
import { banking } from './banking/banking.ts';
import { depositAccount } from './banking/deposit-account.ts';
import { creditCard } from './credit-cards/credit-card.ts';
import { creditCards } from './credit-cards/credit-cards.ts';
import { mortgage } from './mortgage/mortgage.ts';
import { mortgageLoan } from './mortgage/mortgage-loan.ts';
import { installmentLoan } from './personal-loans/installment-loan.ts';
import { personalLoans } from './personal-loans/personal-loans.ts';
import { defaultProductName, type VerticalProduct } from './product.ts';
import type { Vertical } from './vertical.ts';

/** Verticals that this service can serve. Each vertical has a folder in `src/verticals`. */
const verticals: Vertical[] = [];

const products = new Map<string, VerticalProduct>();

/** Folders of the example catalogs, by the segment of the vertical. */
const folders = new Map<string, URL>();

/**
 * Registers a vertical and its product. Every thread that matches offers must register the same verticals, before its first request.
 *
 * @param folder URL of the folder with `example-catalog.json`, `sandbox-catalog.json` and `logos/`; ends with a slash
 */
export function registerVertical(
  vertical: Vertical,
  product: VerticalProduct,
  folder: URL = new URL(`./${vertical.segment}/`, import.meta.url),
): void {
  const { product: name = defaultProductName } = vertical;
  const registered = products.get(name);
  if (registered !== undefined && registered !== product) throw new Error(`two products have the name ${name}`);
  products.set(name, product);
  verticals.push(vertical);
  folders.set(vertical.segment, folder);
}

registerVertical(personalLoans, installmentLoan);
registerVertical(creditCards, creditCard);
registerVertical(mortgage, mortgageLoan);
registerVertical(banking, depositAccount);

/** Returns the functions for the product of a vertical, or for the product of compiled catalog tables. */
export function getVerticalProduct({
  product: name = defaultProductName,
}: {
  readonly product?: string | undefined;
}): VerticalProduct {
  const product = products.get(name);
  if (product === undefined) throw new Error(`product ${name} is not registered`);
  return product;
}

export function listProductNames(): readonly string[] {
  return [...products.keys()];
}

/** Returns the registered verticals, in the order of their registration. */
export function availableVerticals(): readonly Vertical[] {
  return verticals;
}

/** Properties that are needed to issue API keys for a vertical, even if the vertical is not served (docs/contract.md#verticals). */
export interface KnownVertical {
  /** Numeric ID of the vertical (see `Vertical`). The number of a vertical must never change or be reused. */
  readonly number: number;
  readonly segment: string;
  readonly keyPrefix: string;
  readonly status: 'stable' | 'beta' | 'planned';
}

/** Verticals of docs/contract.md#verticals that this release cannot serve. Operators can already issue keys for them. */
const plannedVerticals: readonly KnownVertical[] = [
  { number: 5, segment: 'find-advisor', keyPrefix: 'svc_fa_', status: 'planned' },
];

/**
 * Returns all verticals of docs/contract.md#verticals and all registered verticals. The command line can issue keys for a vertical that is
 * not served yet. A request with the API key of an unserved vertical returns 404 on the routes of that vertical, and 403 on the routes of
 * every other vertical.
 */
export function knownVerticals(): readonly KnownVertical[] {
  return [...verticals, ...plannedVerticals];
}

/** Returns the default catalogs: for each vertical, the example catalog for live keys and the sandbox catalog for test keys. */
export function exampleCatalogs(): CatalogSource[] {
  return verticals.flatMap((vertical) => createCatalogSources(vertical, exampleCatalogFile(vertical)));
}

/** Returns the path of the vertical's example catalog with fictional lenders. */
export function exampleCatalogFile(vertical: Vertical): string {
  return verticalFile(vertical, 'example-catalog.json');
}

/** Returns the two catalog sources of a vertical: `liveFile` for live API keys, and the sandbox catalog for test API keys. */
export function createCatalogSources(vertical: Vertical, liveFile: string): CatalogSource[] {
  return [
    { vertical, mode: 'live', file: liveFile },
    { vertical, mode: 'test', file: verticalFile(vertical, 'sandbox-catalog.json') },
  ];
}

/** Whether a file is the example catalog or the sandbox catalog of a vertical. */
export function isBuiltInCatalogFile(vertical: Vertical, file: string): boolean {
  const names = folders.has(vertical.segment) ? ['example-catalog.json', 'sandbox-catalog.json'] : [];
  return names.some((name) => verticalFile(vertical, name) === file);
}

function verticalFile({ segment }: Vertical, name: string): string {
  return fileURLToPath(new URL(name, folders.get(segment)));
}
