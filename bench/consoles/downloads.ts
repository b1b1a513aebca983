import { Agent, get } from 'node:http';
import { join } from 'node:path';
import type { BenchContext } from '../bench-part.ts';
import { writeRequestFile } from '../load/prepared-request.ts';
import { measureLoad } from '../routes/run-scenario.ts';
import { sessionRequest } from '../scenarios/requests.ts';
import { measureServerUsage } from '../target/load-target.ts';
import { withServiceTarget } from '../target/service-target.ts';
import type { ConsoleMeasurement } from './console-part.ts';

const files = ['', 'partner.js', 'partner.css'];
const msPerSecond = 1_000;
const microsPerSecond = 1_000_000;

/** Downloads per second during a load: as many as 36,000 people who open the console in an hour. */
const downloadsPerSecond = 10;
/** Number of downloads by which the CPU time of one is measured. */
const measuredDownloads = 500;

/**
 * Measures how many sessions per second the API creates while the files of the partner console are downloaded, as a ratio to the same load
 * without downloads, and the CPU time of the server for a session and for a download. The loads with and without downloads alternate.
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
    const agent = new Agent({ keepAlive: true, maxSockets: 1 });
    const ratios: number[] = [];
    const sessionMicros: number[] = [];
    const downloadMicros: number[] = [];
    // The first round warms up the server.
    for (let round = 0; round <= scale.rounds; round++) {
      const alone = await measureLoad(service, client, load);
      const timer = setInterval(() => void downloadConsole(agent, port), msPerSecond / downloadsPerSecond);
      const together = await measureLoad(service, client, load);
      clearInterval(timer);
      const { usage } = await measureServerUsage(service, async () => {
        for (let count = 0; count < measuredDownloads; count++) await downloadConsole(agent, port);
      });
      if (round === 0) continue;
      ratios.push(together.perSecond / alone.perSecond);
      sessionMicros.push(alone.cpuMicros ?? Number.NaN);
      downloadMicros.push(((usage?.allThreadsSeconds ?? Number.NaN) * microsPerSecond) / measuredDownloads);
    }
    agent.destroy();
    const name = `sessions per second during ${downloadsPerSecond} downloads of a console per second, to none`;
    return [
      { name, unit: 'ratio', rounds: ratios },
      { name: 'CPU time of the server for a session', unit: 'us', rounds: sessionMicros },
      { name: 'CPU time of the server for a download of a console', unit: 'us', rounds: downloadMicros },
    ];
  });
}

async function downloadConsole(agent: Agent, port: number): Promise<void> {
  for (const file of files) await download(agent, port, file);
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
