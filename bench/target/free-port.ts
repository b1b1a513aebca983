import { randomInt } from 'node:crypto';
import { once } from 'node:events';
import { createServer } from 'node:net';

/**
 * Port range below the ephemeral ports of Linux (`net.ipv4.ip_local_port_range` starts at 32768), so that the system does not assign these
 * ports to other processes.
 */
const firstPort = 20_000;
const portsEnd = 32_768;
const attempts = 100;

/** Returns a free port of 127.0.0.1. */
export async function findFreePort(): Promise<number> {
  for (let attempt = 0; attempt < attempts; attempt++) {
    const port = randomInt(firstPort, portsEnd);
    if (await isPortFree(port)) return port;
  }
  throw new Error(`none of ${attempts} ports of 127.0.0.1 between ${firstPort} and ${portsEnd} is free`);
}

async function isPortFree(port: number): Promise<boolean> {
  const server = createServer();
  try {
    server.listen({ port, host: '127.0.0.1', exclusive: true });
    await once(server, 'listening');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EADDRINUSE') return false;
    throw error;
  }
  server.close();
  await once(server, 'close');
  return true;
}
