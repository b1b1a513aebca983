import type { HttpRequest, HttpResponse, us_listen_socket } from 'uWebSockets.js';
import { once } from 'node:events';
import { createRequire } from 'node:module';
import { createServer } from 'node:net';
import { bounds } from '../../bounds.ts';
import type { ListenerOptions } from './listener.ts';

/** Error if uWebSockets.js has no binary for the platform, C library or Node.js version of this machine. */
export class NativeEngineUnavailableError extends Error {}

/**
 * The functions of uWebSockets.js that the listener uses. The library's own type declarations lack child apps, `_cfg`, and `listen` with
 * options.
 */
export interface NativeEngine {
  App(): UwsApp;
  SSLApp(options: { cert_file_name?: string; key_file_name?: string; ssl_ciphers?: string }): UwsApp;
  us_listen_socket_close(socket: us_listen_socket): void;
  us_socket_local_port(socket: us_listen_socket): number;
  LIBUS_LISTEN_EXCLUSIVE_PORT: number;
  _cfg(setting: 'silent'): void;
}

export interface UwsApp {
  any(pattern: string, handler: (res: HttpResponse, req: HttpRequest) => void): UwsApp;
  listen(host: string, port: number, options: number, listening: (socket: us_listen_socket | false) => void): UwsApp;
  getDescriptor(): unknown;
  /** Adds a child app. The parent app distributes accepted connections among its child apps before it reads any bytes. */
  addChildAppDescriptor(descriptor: unknown): UwsApp;
  removeChildAppDescriptor(descriptor: unknown): UwsApp;
  close(): void;
}

export interface ImportedEngine {
  readonly native: NativeEngine;
  /** Version of the loaded build of uWebSockets.js, and the reasons why newer builds failed to load. */
  readonly reason: string;
}

const require = createRequire(import.meta.url);

/** Builds of uWebSockets.js in package.json, newest first. docs/contributing/native-http.md lists the platforms of each build. */
const engineBuilds: readonly { readonly version: string; readonly load: () => unknown }[] = [
  { version: '20.69.0', load: () => require('uWebSockets.js-glibc-2.38') },
  { version: '20.51.4', load: () => require('uWebSockets.js') },
];

let loadedEngine: ImportedEngine | undefined;

/**
 * Loads the newest binary of uWebSockets.js that this machine supports, once per process. During the load, sets the environment variable
 * `UWS_HTTP_MAX_HEADERS_SIZE`, from which the binary reads the maximum size of a request head.
 *
 * @throws NativeEngineUnavailableError with the reason for each build if none can be loaded
 */
export function loadNativeEngine(): ImportedEngine {
  if (loadedEngine !== undefined) return loadedEngine;
  const before = process.env.UWS_HTTP_MAX_HEADERS_SIZE;
  process.env.UWS_HTTP_MAX_HEADERS_SIZE = String(bounds.requestHeadBytesMax);
  try {
    loadedEngine = loadNewestEngineBuild();
    return loadedEngine;
  } finally {
    if (before === undefined) delete process.env.UWS_HTTP_MAX_HEADERS_SIZE;
    else process.env.UWS_HTTP_MAX_HEADERS_SIZE = before;
  }
}

function loadNewestEngineBuild(): ImportedEngine {
  const failures: string[] = [];
  for (const { version, load } of engineBuilds) {
    try {
      const native = load() as NativeEngine;
      native._cfg('silent');
      return { native, reason: [`uWebSockets.js ${version} loaded`, ...failures].join('; ') };
    } catch (error) {
      failures.push(`uWebSockets.js ${version} cannot be loaded: ${loaderMessage(error)}`);
    }
  }
  throw new NativeEngineUnavailableError(failures.join('; '));
}

/** Returns only the line of a module loader error that describes the cause. */
function loaderMessage(error: unknown): string {
  const message = error instanceof Error ? error.message : String(error);
  return message
    .replace(/^.*\n\n/s, '')
    .replace(/^Error: /, '')
    .replace(/\n.*$/s, '');
}

/** Listens on the address with Node.js to find out the system error, because uWebSockets.js does not report why `listen` failed. */
export async function findListenError({
  host,
  port,
  sharesPort = false,
}: Pick<ListenerOptions, 'host' | 'port' | 'sharesPort'>): Promise<unknown> {
  const server = createServer();
  try {
    server.listen({ host, port, exclusive: true, reusePort: sharesPort });
    await once(server, 'listening');
  } catch (error) {
    return error;
  }
  server.close();
  return new Error(`the HTTP engine could not listen on ${host}:${port}`);
}
