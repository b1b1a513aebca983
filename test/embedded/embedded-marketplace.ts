import assert from 'node:assert/strict';
import type { TestContext } from 'node:test';
import {
  createMarketplace,
  type Marketplace,
  type MarketplaceOptions,
  type PartnerApiResult,
} from '../../src/index.ts';
import '../support/patient-deadlines.ts';
import { runAfterTest } from '../support/run-after-test.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';

export const newKey = { account: 'embedded', vertical: 'personal-loans', mode: 'live' } as const;

/** Options of a service without listeners whose process may crash, but not lose its power. */
export const embeddedOptions = { durability: 'write', urls: { click: 'https://go.example' } } as const;

/** Starts a service that is closed after the test, by default in a new folder. */
export async function startEmbedded(t: TestContext, options: Partial<MarketplaceOptions> = {}): Promise<Marketplace> {
  const dataDir = options.dataDir ?? temporaryFolder(t);
  const marketplace = await createMarketplace({ ...embeddedOptions, ...options, dataDir });
  runAfterTest(t, () => marketplace.close());
  return marketplace;
}

export function ok<Value>(result: PartnerApiResult<Value>): Value {
  assert.ok(result.ok, JSON.stringify(result));
  return result.value;
}

export function refusal(result: PartnerApiResult<unknown>) {
  assert.ok(!result.ok, JSON.stringify(result));
  return result.error;
}
