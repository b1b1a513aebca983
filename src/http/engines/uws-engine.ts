import type { HttpRequest, HttpResponse, us_listen_socket } from 'uWebSockets.js';
import { once } from 'node:events';
import { createRequire } from 'node:module';
import { createServer } from 'node:net';
import { bounds } from '../../bounds.ts';

/** The native library has no binary for the platform, C library or Node.js version of this machine. */
export class NativeEngineUnavailableError extends Error {}

/** The part of the library that the listener uses. The library's own declarations lack `listen` with options, child apps and `_cfg`. */
export interface NativeEngine {
  App(): NativeApp;
  SSLApp(options: TlsAppOptions): NativeApp;
  us_listen_socket_close(socket: us_listen_socket): void;
  us_socket_local_port(socket: us_listen_socket): number;
  LIBUS_LISTEN_EXCLUSIVE_PORT: number;
  _cfg(setting: 'silent'): void;
}

interface TlsAppOptions {
  readonly cert_file_name?: string;
  readonly key_file_name?: string;
  readonly ssl_ciphers?: string;
}

export interface NativeApp {
  any(pattern: string, handler: (res: HttpResponse, req: HttpRequest) => void): NativeApp;
  listen(host: string, port: number, options: number, listening: (socket: us_listen_socket | false) => void): NativeApp;
  getDescriptor(): unknown;
  /** Passes each connection that this app accepts to one of its child apps in turn, before it reads any bytes. */
  addChildAppDescriptor(descriptor: unknown): NativeApp;
  removeChildAppDescriptor(descriptor: unknown): NativeApp;
  close(): void;
}

export interface LoadedEngine {
  readonly native: NativeEngine;
  /** Version of the loaded build, and why newer builds failed to load. */
  readonly reason: string;
}

const require = createRequire(import.meta.url);

/** The builds of the library in package.json, newest first. docs/contributing/native-http.md lists the platforms of each. */
const engineBuilds: readonly { readonly version: string; readonly load: () => unknown }[] = [
  { version: '20.69.0', load: () => require('uWebSockets.js-glibc-2.38') },
  { version: '20.51.4', load: () => require('uWebSockets.js') },
];

let loadedEngine: LoadedEngine | undefined;

/**
 * Loads the newest build that this machine supports, once per process.
 *
 * @throws NativeEngineUnavailableError with the reason for each build if none can be loaded
 */
export function loadNativeEngine(): LoadedEngine {
  loadedEngine ??= withEnvironmentVariable(
    'UWS_HTTP_MAX_HEADERS_SIZE',
    String(bounds.requestHeadBytesMax),
    loadNewestEngineBuild,
  );
  return loadedEngine;
}

function loadNewestEngineBuild(): LoadedEngine {
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

/** Removes the text that the library adds before the message of the loader; it does not name the cause. */
function loaderMessage(error: unknown): string {
  const message = error instanceof Error ? error.message : String(error);
  return message
    .replace(/^.*\n\n/s, '')
    .replace(/^Error: /, '')
    .replace(/\n.*$/s, '');
}

/**
 * Calls `load` with an environment variable, which the library reads only while its binary loads, and then restores the environment. It is
 * synchronous, so a program that embeds the service never sees the variable.
 */
function withEnvironmentVariable<Result>(name: string, value: string, load: () => Result): Result {
  const before = process.env[name];
  process.env[name] = value;
  try {
    return load();
  } finally {
    if (before === undefined) delete process.env[name];
    else process.env[name] = before;
  }
}

/** Listens with Node.js to get the system's error, because the library reports a failure without its reason. */
export async function findListenError(host: string, port: number): Promise<unknown> {
  const server = createServer();
  try {
    server.listen({ host, port, exclusive: true });
    await once(server, 'listening');
  } catch (error) {
    return error;
  }
  server.close();
  return new Error(`the HTTP engine could not listen on ${host}:${port}`);
}
