/**
 * Example landing page for loans in two variants, which uses the server of `make run`. `make demo-page` starts the page. README.md
 * describes the design and the settings.
 */
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import process from 'node:process';
import { MarketplaceApi } from './api/marketplace-api.ts';
import { LandingPage } from './landing-page.ts';
import { createPageServer } from './page-server.ts';
import { readSettings, type Settings, SettingsError } from './settings.ts';

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
  const { apiKey, apiUrl, host, port, behindProxy } = settings;
  const api = new MarketplaceApi(apiUrl, apiKey);
  await checkApi(api, apiUrl);

  const server = createPageServer(new LandingPage(api, settings, log), behindProxy, log);
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
  printAddress(`http://${host.includes(':') ? `[${host}]` : host}:${(server.address() as AddressInfo).port}`);
}

function printAddress(page: string): void {
  process.stdout.write(`The landing page is open. Ctrl-C closes it.

  ${page}/            as a visitor: one of the two variants, always the same one
  ${page}/?variant=a  one calm form, offers in the widget
  ${page}/?variant=b  one question at a time, offers as cards
  ${page}/results     what both have earned

`);
}

/** Checks that the API responds and accepts the key. Throws `SettingsError` with a one-line message otherwise. */
async function checkApi(api: MarketplaceApi, url: string): Promise<void> {
  const fault = await api.checkAccess();
  if (fault === null) return;
  if (fault.code === 'UNREACHABLE') {
    throw new SettingsError(
      `no answer from ${url}: start the server with \`make run\` in another terminal, or set API_URL`,
    );
  }
  if (fault.code !== 'UNAUTHORIZED') throw new SettingsError(`${url} does not serve this page. ${fault.description}`);
  throw new SettingsError(`${url} does not know the key in API_KEY: it may have expired, or be of another data folder`);
}
