import assert from 'node:assert/strict';
import { join } from 'node:path';
import { demoCatalogFolder } from '../../bench/demo-history/demo-catalog.ts';
import { writeDemoHistory } from '../../bench/demo-history/write-demo-history.ts';
import { operatorTokenPath, readOperatorToken } from '../../src/auth/operator-token.ts';
import { createMarketplace } from '../../src/index.ts';
import { builtInVerticals } from '../../src/verticals/built-in-verticals.ts';
import { ManualClock } from '../support/manual-clock.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';
import { useConsoles } from './console-browser.ts';
import type { Api } from './figures/expected-page.ts';

export const vertical = builtInVerticals.verticals[0]!;
/** Noon of the day on which the history ends. */
export const endMs = Date.UTC(2026, 10, 27, 12);

/** Declares both consoles of a service with the demo history, which all tests of a file share. */
export function useDemoConsoles() {
  const dataDir = join(temporaryFolder(), 'demo');
  let key = '';
  const { partner, operator } = useConsoles(async () => {
    const signal = new AbortController().signal;
    const history = await writeDemoHistory({ dataDir, verticals: [vertical], endMs, onProgress: () => {}, signal });
    key = history.keys[0]!.key;
    const clock = new ManualClock(endMs);
    const marketplace = await createMarketplace({
      dataDir,
      clock,
      testClock: true,
      durability: 'write',
      matcherThreads: 0,
      catalogs: builtInVerticals.createCatalogSources(
        vertical,
        join(demoCatalogFolder(dataDir), `${vertical.segment}.json`),
      ),
      listen: { engine: 'uws' },
    });
    return { marketplace, clock, close: () => marketplace.close() };
  });
  const operatorToken = () => readOperatorToken(operatorTokenPath(dataDir));
  const api: Api = {
    partner: (path, ...sent) => ask(new URL(`../v1/${vertical.segment}/${path}`, partner.url).href, key, ...sent),
    operator: (path, ...sent) => ask(new URL(`../${path}`, operator.url).href, operatorToken(), ...sent),
  };
  return { partner, operator, api, operatorToken, partnerKey: () => key };
}

/** Returns the answer of a listener to a request, which is a POST request if it has a body. */
async function ask<Answer>(
  url: string,
  secret: string,
  body?: object,
  method: string = body === undefined ? 'GET' : 'POST',
): Promise<Answer> {
  const response = await fetch(url, {
    method,
    headers: { Authorization: `Bearer ${secret}`, 'Content-Type': 'application/json' },
    body: body === undefined ? null : JSON.stringify(body),
  });
  assert.equal(response.status, 200, `${url}: ${await response.clone().text()}`);
  return (await response.json()) as Answer;
}
