import { fileURLToPath } from 'node:url';
import { defaultProductName, type Vertical } from '../domain/vertical.ts';
import type { CatalogSource } from './parse-catalog.ts';
import type { VerticalProduct, VerticalWithProduct } from './product.ts';

/** Verticals that a service can serve, with their products and built-in catalogs. */
export class VerticalRegistry {
  readonly #verticals: Vertical[] = [];
  readonly #products = new Map<string, VerticalProduct>();
  /** Folders of the built-in catalogs, by the segment of the vertical. */
  readonly #folders = new Map<string, URL>();

  /**
   * Registers a vertical and its product. Every thread that matches offers must register the same verticals, before its first request.
   *
   * @param folder URL of the folder with `example-catalog.json`, `sandbox-catalog.json` and `logos/`; ends with a slash
   */
  register(vertical: Vertical, product: VerticalProduct, folder: URL): void {
    const { product: name = defaultProductName } = vertical;
    const registered = this.#products.get(name);
    if (registered !== undefined && registered !== product) throw new Error(`two products have the name ${name}`);
    this.#products.set(name, product);
    this.#verticals.push(vertical);
    this.#folders.set(vertical.segment, folder);
  }

  /** Registered verticals, in the order of their registration. */
  get verticals(): readonly Vertical[] {
    return this.#verticals;
  }

  get productNames(): readonly string[] {
    return [...this.#products.keys()];
  }

  /** Returns the product of a vertical, or of compiled catalog tables. Throws an error if the product is not registered. */
  getProduct({ product: name = defaultProductName }: { readonly product?: string | undefined }): VerticalProduct {
    const product = this.#products.get(name);
    if (product === undefined) throw new Error(`product ${name} is not registered`);
    return product;
  }

  withProduct(vertical: Vertical): VerticalWithProduct {
    return { vertical, product: this.getProduct(vertical) };
  }

  /** Returns the default catalogs: for each vertical, the example catalog for live keys and the sandbox catalog for test keys. */
  listExampleCatalogs(): CatalogSource[] {
    return this.#verticals.flatMap((vertical) =>
      this.createCatalogSources(vertical, this.exampleCatalogFile(vertical)),
    );
  }

  /** Returns the path of the vertical's example catalog with fictional lenders. */
  exampleCatalogFile(vertical: Vertical): string {
    return this.#builtInFile(vertical, 'example-catalog.json');
  }

  /** Returns the two catalog sources of a vertical: `liveFile` for live API keys, and the sandbox catalog for test API keys. */
  createCatalogSources(vertical: Vertical, liveFile: string): CatalogSource[] {
    return [
      { vertical, mode: 'live', file: liveFile },
      { vertical, mode: 'test', file: this.#builtInFile(vertical, 'sandbox-catalog.json') },
    ];
  }

  /** Whether a file is the example catalog or the sandbox catalog of a vertical. */
  isBuiltInCatalogFile(vertical: Vertical, file: string): boolean {
    const names = this.#folders.has(vertical.segment) ? ['example-catalog.json', 'sandbox-catalog.json'] : [];
    return names.some((name) => this.#builtInFile(vertical, name) === file);
  }

  #builtInFile({ segment }: Vertical, name: string): string {
    return fileURLToPath(new URL(name, this.#folders.get(segment)));
  }
}
