import { resolve } from 'node:path';
import type { Command } from 'commander';
import { bounds } from '../../bounds.ts';
import type { VerticalRegistry } from '../../catalogs/vertical-registry.ts';
import { loadConfig } from '../../config/config.ts';
import { resolveUrls } from '../../config/resolve-urls.ts';
import { isJsonObject } from '../../domain/assert-options.ts';
import { escapeInvisibleCharacters } from '../../domain/text.ts';
import { readRegularFile } from '../../files/regular-file.ts';
import type { ExperimentResponse } from '../../operations/experiments/experiment-schemas.ts';
import { CommandLineError } from '../command.ts';
import { parseServerUrl } from './confirm.ts';
import { networkErrorReason, parseJsonOrNull } from './confirmation-client.ts';

/** Options that name a running server and an API key. */
export interface ServerOptions {
  readonly keyFile: string;
  readonly url?: string;
}

export function addServerOptions(command: Command): Command {
  return command
    .requiredOption('--key-file <file>', 'file with an API key of the account, whose prefix determines the vertical')
    .option('--url <url>', 'public address of the server (default: from the settings)', parseServerUrl);
}

/**
 * Sends a request about an experiment to the public listener of a running server, with an API key, whose prefix determines the vertical.
 * Returns the experiment in the response. Throws `CommandLineError` if the server cannot be reached or rejects the request.
 *
 * @param path path below `/v1/<vertical>/experiments/`
 */
export async function sendExperimentRequest(
  { keyFile, url = defaultServerUrl() }: ServerOptions,
  { verticals }: VerticalRegistry,
  method: 'PUT' | 'POST',
  path: string,
  body: object,
): Promise<ExperimentResponse> {
  const key = readTextFile(keyFile, bounds.apiKeyCharactersMax + 2).trim();
  const vertical = verticals.find(({ keyPrefix }) => key.startsWith(keyPrefix));
  if (vertical === undefined) throw new CommandLineError(`${resolve(keyFile)} does not contain an API key`);
  const target = `${url}/v1/${vertical.segment}/experiments/${path}`;
  const response = await fetch(target, {
    method,
    headers: { Authorization: `Bearer ${key}`, 'Content-Type': 'application/json' },
    body: JSON.stringify(body),
    redirect: 'error',
    signal: AbortSignal.timeout(bounds.commandRequestTimeoutMs),
  }).catch((cause: unknown) => {
    throw new CommandLineError(`no server responds at ${url} (see --url): ${networkErrorReason(cause)}`, { cause });
  });
  const answer = parseJsonOrNull(await response.text());
  if (response.status === 200 && isJsonObject(answer)) return answer as unknown as ExperimentResponse;
  const { error, message } = Object(answer) as { readonly error?: unknown; readonly message?: unknown };
  if (typeof message !== 'string') {
    throw new CommandLineError(`${url} returned status ${response.status} with an unexpected body (see --url)`);
  }
  // A PUT creates an unknown experiment.
  if (error === 'NOT_FOUND' && method === 'POST') throw unknownExperimentError();
  throw new CommandLineError(`the server rejects the request: ${escapeInvisibleCharacters(message)}`);
}

export function unknownExperimentError(): CommandLineError {
  return new CommandLineError(
    'this account, vertical and mode have no experiment with this name; marketplace experiments list shows all',
  );
}

/** Reads a file that a command names. Throws `CommandLineError`. */
export function readTextFile(file: string, bytesMax: number): string {
  const path = resolve(file);
  const read = readRegularFile(path, bytesMax);
  if (!read.ok) throw new CommandLineError(`${path} ${read.problem}`);
  return read.bytes.toString();
}

/** Returns the public URL of a server with the settings of this process. */
function defaultServerUrl(): string {
  const { config } = loadConfig();
  if (config.urls.public === null && config.listen.port === 0) {
    throw new CommandLineError('SVC_PORT is 0, so the port of the server is unknown; use --url');
  }
  return resolveUrls(config, config.listen.port).urls.public;
}
