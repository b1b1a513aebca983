import { rmSync } from 'node:fs';
import { createMarketplace } from '../../src/index.ts';
import { HttpClient } from './http-client.ts';
import { temporaryFolder } from './running-marketplace.ts';
import { Scrape } from './scrape.ts';
import { selfSigned, writeCertificate } from './self-signed.ts';

/** Returns the metrics of a service whose public listener uses TLS, before the first request. */
export async function scrapeOverTls(): Promise<Scrape> {
  const folder = temporaryFolder();
  try {
    const tls = writeCertificate(folder, selfSigned('figures.test'));
    const marketplace = await createMarketplace({ dataDir: folder, listen: { tls } });
    try {
      return await Scrape.of(new HttpClient(marketplace.ports!.operations, false));
    } finally {
      await marketplace.close();
    }
  } finally {
    rmSync(folder, { recursive: true });
  }
}
