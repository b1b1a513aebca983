/**
 * Example landing pages in two variants, one for each product, which use the server of `make run`. `make demo-page` starts the pages.
 * README.md describes the design and the settings.
 */
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import process from 'node:process';
import { MarketplaceApi } from './api/marketplace-api.ts';
import { openExperiment } from './experiment/experiment.ts';
import { LandingPage } from './landing-page.ts';
import { createPageServer } from './page-server.ts';
import { products } from './products/products.ts';
import { apiKeyName, readSettings, type Settings, SettingsError } from './settings.ts';

/** Maximum time for pending requests after a stop signal. */
const drainMs = 5_000;

const log = (line: string) => process.stderr.write(`landing page: ${line}\n`);

try {
  await serve(readSettings(process.env));
} catch (fault) {
  log(fault instanceof SettingsError ? fault.message : String(fault));
  process.exitCode = 1;
}

async function serve(settings: Settings): Promise<void> {
  const { apiUrl, apiKeys, host, port, behindProxy } = settings;
  const pages = new Map<string, LandingPage>();
  for (const product of products) {
    const key = apiKeys.get(product.segment);
    if (key === undefined) continue;
    const url = `${apiUrl}/${product.segment}`;
    const api = new MarketplaceApi(url, key);
    await checkApi(api, url, apiKeyName(product.segment));
    const experiment = await openExperiment(api);
    if (!experiment.ok) throw new SettingsError(`${url} refuses the experiment. ${experiment.description}`);
    pages.set(product.segment, new LandingPage(product, api, experiment.answer, key, settings, log));
  }

  const server = createPageServer(pages, behindProxy, log);
  server.listen(port, host);
  try {
    await once(server, 'listening');
  } catch (fault) {
    throw new SettingsError(
      `cannot listen on ${host}:${port} (${(fault as NodeJS.ErrnoException).code}); PORT names another`,
    );
  }
  // Graceful shutdown: rejects new connections and answers pending requests.
  const stop = () => {
    server.close();
    server.closeIdleConnections();
    setTimeout(() => server.closeAllConnections(), drainMs).unref();
  };
  process.once('SIGINT', stop);
  process.once('SIGTERM', stop);
  printAddress(`http://${host.includes(':') ? `[${host}]` : host}:${(server.address() as AddressInfo).port}`, [
    ...pages.keys(),
  ]);
}

function printAddress(page: string, segments: readonly string[]): void {
  process.stdout.write(`The landing pages are available. Ctrl-C stops them.

  ${page}/            start page
${segments.map((segment) => `  ${page}/${segment}\n`).join('')}
The demo bar at the end of each page links both variants and their results.

`);
}

/** Checks that the API responds and accepts the key. Throws `SettingsError` with a one-line message otherwise. */
async function checkApi(api: MarketplaceApi, url: string, keyName: string): Promise<void> {
  const fault = await api.checkAccess();
  if (fault === null) return;
  if (fault.code === 'UNREACHABLE') {
    throw new SettingsError(
      `no answer from ${url}: start the server with \`make run\` in another terminal, or set API_URL`,
    );
  }
  if (fault.code === 'UNAUTHORIZED') {
    throw new SettingsError(
      `${url} rejects the key in ${keyName}: it may have expired, or belong to another data folder`,
    );
  }
  if (fault.code === 'VERTICAL_MISMATCH') throw new SettingsError(`the key in ${keyName} is for another vertical`);
  throw new SettingsError(`${url} does not serve this page. ${fault.description}`);
}
