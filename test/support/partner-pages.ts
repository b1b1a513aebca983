import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';

/** A server for the pages of a partner, with another origin than the service. Tests add the pages. */
export class PartnerPages {
  readonly #server: Server;
  readonly #pages = new Map<string, { readonly html: string; readonly headers: Readonly<Record<string, string>> }>();

  private constructor(server: Server) {
    this.#server = server;
    server.on('request', (request, response) => {
      const page = this.#pages.get(request.url ?? '');
      response.writeHead(page === undefined ? 404 : 200, {
        'Content-Type': 'text/html; charset=utf-8',
        ...page?.headers,
      });
      response.end(page?.html);
    });
  }

  static async start(): Promise<PartnerPages> {
    const server = createServer();
    const pages = new PartnerPages(server);
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    return pages;
  }

  /** Origin of the pages. The host differs from 127.0.0.1, the host of the service. */
  get origin(): string {
    return `http://localhost:${(this.#server.address() as AddressInfo).port}`;
  }

  /** Adds a page. Returns its URL. */
  add(html: string, headers: Readonly<Record<string, string>> = {}): string {
    const path = `/${this.#pages.size + 1}`;
    this.#pages.set(path, { html, headers });
    return this.origin + path;
  }

  async close(): Promise<void> {
    this.#server.closeAllConnections();
    await new Promise((resolve) => this.#server.close(resolve));
  }
}
