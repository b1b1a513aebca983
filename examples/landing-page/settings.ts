import { isIP } from 'node:net';
import { products } from './products/products.ts';

/** Invalid setting in the environment. The message has one line and is printed at the start. */
export class SettingsError extends Error {
  override readonly name = 'SettingsError';
}

export interface Settings {
  /** URL of the API without the segment of a vertical. */
  readonly apiUrl: string;
  /** API key of each available product, by the segment of the product. */
  readonly apiKeys: ReadonlyMap<string, string>;
  readonly host: string;
  /** TCP port; 0 selects a free port. */
  readonly port: number;
  /** Whether a trusted HTTPS proxy forwards all requests and adds the client address to `X-Forwarded-For`. */
  readonly behindProxy: boolean;
  /** Password for /results; null allows access only from this machine. */
  readonly resultsPassword: string | null;
  /** Origin of the logos in a script widget; null if the logos come from the origin of the widget. */
  readonly logoOrigin: string | null;
}

type Environment = Readonly<Record<string, string | undefined>>;

export function readSettings(environment: Environment): Settings {
  const host = environment.HOST || '127.0.0.1';
  if (isIP(host) === 0 && host !== 'localhost') throw new SettingsError('HOST takes an IP address, such as 127.0.0.1');
  return {
    apiUrl: readApiUrl(environment),
    apiKeys: readApiKeys(environment),
    host,
    port: readPort(environment.PORT || '3000'),
    behindProxy: environment.BEHIND_PROXY === '1',
    resultsPassword: environment.RESULTS_PASSWORD || null,
    logoOrigin: readOrigin(environment.LOGO_ORIGIN),
  };
}

/** Returns the name of the environment variable with the API key of a product, such as `API_KEY_CREDIT_CARDS`. */
export function apiKeyName(segment: string): string {
  return `API_KEY_${segment.toUpperCase().replaceAll('-', '_')}`;
}

function readApiKeys(environment: Environment): ReadonlyMap<string, string> {
  const keys = new Map<string, string>();
  for (const { segment } of products) {
    const key = environment[apiKeyName(segment)] || null;
    if (key === null) continue;
    if (!/^[\x21-\x7e]+$/.test(key)) {
      throw new SettingsError(`${apiKeyName(segment)} contains characters that are not allowed in an API key`);
    }
    keys.set(segment, key);
  }
  if (keys.size > 0) return keys;
  const names = products.map(({ segment }) => apiKeyName(segment)).join(', ');
  throw new SettingsError(
    `no API key is set; set at least one of ${names} to a key of \`bin/marketplace keys create\`, or use \`make demo-page\``,
  );
}

/** Returns the base URL of the API without a slash at the end. Throws `SettingsError` if `API_URL` is not a URL. */
function readApiUrl(environment: Environment): string {
  const text = environment.API_URL || 'http://127.0.0.1:8080/v1';
  if (!/^https?:\/\//.test(text) || !URL.canParse(text)) {
    throw new SettingsError('API_URL takes an address such as http://127.0.0.1:8080/v1');
  }
  return text.replace(/\/+$/, '');
}

function readPort(text: string): number {
  const port = Number(text);
  if (!/^\d+$/.test(text) || port > 65_535) throw new SettingsError('PORT takes a whole number from 0 to 65535');
  return port;
}

function readOrigin(text: string | undefined): string | null {
  if (text === undefined || text === '') return null;
  if (!/^https?:\/\//.test(text) || !URL.canParse(text)) {
    throw new SettingsError('LOGO_ORIGIN takes an origin such as https://cdn.example.com');
  }
  return new URL(text).origin;
}
