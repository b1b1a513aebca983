import { Agent, get } from 'node:http';
import { join } from 'node:path';
import type { BenchContext } from '../bench-part.ts';
import { writeRequestFile } from '../load/prepared-request.ts';
import { measureLoad } from '../routes/run-scenario.ts';
import { sessionRequest } from '../scenarios/requests.ts';
import { withServiceTarget } from '../target/service-target.ts';
import type { ConsoleMeasurement } from './console-part.ts';

const files = ['', 'partner.js', 'partner.css'];

/**
 * Measures how many sessions per second the API creates while one connection downloads the files of the partner console in a loop, as a
 * ratio to the same load without downloads. The loads with and without downloads alternate.
 */
export async function measureDownloads(
  { scale, client }: BenchContext,
  folder: string,
): Promise<readonly ConsoleMeasurement[]> {
  return withServiceTarget({ folder, keys: scale.keys }, async (service) => {
    const requestsFile = join(folder, 'requests');
    await writeRequestFile(
      requestsFile,
      service.keys.map((key) => sessionRequest(key)),
    );
    const { port } = service;
    const { connections, seconds } = scale;
    const load = { port, requestsFile, connections, seconds, singleUse: false, expectedStatus: 200 };
    const ratios: number[] = [];
    const downloadsPerSecond: number[] = [];
    // The first round warms up the server.
    for (let round = 0; round <= scale.rounds; round++) {
      const alone = await measureLoad(service, client, load);
      const downloads = startDownloads(port);
      const started = performance.now();
      const together = await measureLoad(service, client, load);
      const count = await downloads.stop();
      if (round === 0) continue;
      ratios.push(together.perSecond / alone.perSecond);
      downloadsPerSecond.push((count / (performance.now() - started)) * 1_000);
    }
    return [
      { name: 'sessions per second during downloads, to the same load without', unit: 'ratio', rounds: ratios },
      { name: 'downloads of a console in this time', unit: 'per second', rounds: downloadsPerSecond },
    ];
  });
}

/** Downloads the files of the console, one after the other on one connection, until `stop` is called, which returns the number of downloads. */
function startDownloads(port: number): { readonly stop: () => Promise<number> } {
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  let isStopped = false;
  const loop = async () => {
    let count = 0;
    for (; !isStopped; count++) for (const file of files) await download(agent, port, file);
    agent.destroy();
    return count;
  };
  const ended = loop();
  return {
    stop: () => {
      isStopped = true;
      return ended;
    },
  };
}

function download(agent: Agent, port: number, file: string): Promise<void> {
  return new Promise((resolve, reject) => {
    const headers = { 'Accept-Encoding': 'br' };
    get({ agent, port, host: '127.0.0.1', path: `/console/${file}`, headers }, (response) => {
      response.resume().once('end', resolve);
      if (response.statusCode !== 200) reject(new Error(`/console/${file} answered ${response.statusCode}`));
    }).once('error', reject);
  });
}
