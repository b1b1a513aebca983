import { isIP, isIPv4 } from 'node:net';
import { nearestWord } from '../domain/text.ts';
import { ConfigError, type Env, type SettingName } from './env.ts';

export const baseUrlRule = 'an http or https URL without user, query or fragment, like https://offers.example.com';

/** Parses a base URL. Returns the URL without its trailing slash, or null if the URL is invalid. */
export function parseBaseUrl(text: string): string | null {
  const url = parseHttpUrl(text);
  if (url === null || url.search !== '' || url.hash !== '' || /[?#]/.test(text)) return null;
  return `${url.origin}${url.pathname.replace(/\/+$/, '')}`;
}

/** Whether the text is an origin in the form that browsers send. Accepts IPv6 hosts, unlike `validateWebOrigin`. */
export function isHttpOrigin(text: string): boolean {
  return parseHttpUrl(text)?.origin === text;
}

function parseHttpUrl(text: string): URL | null {
  const url = URL.parse(text);
  if (url === null || (url.protocol !== 'http:' && url.protocol !== 'https:')) return null;
  return url.username === '' && url.password === '' ? url : null;
}

/** Returns the parsed setting, or undefined if the setting is absent. Throws `ConfigError` if `parse` returns null. */
function parseSetting<Value>(
  { values }: Env,
  name: SettingName,
  rule: string,
  parse: (text: string) => Value | null,
): Value | undefined {
  const text = values[name];
  if (text === undefined) return undefined;
  const value = parse(text);
  if (value === null) throw ConfigError.invalidSettingError(name, text, rule);
  return value;
}

export function parseIntegerSetting(env: Env, name: SettingName, min: number, max: number): number | undefined {
  return parseSetting(env, name, `an integer from ${min} to ${max}`, (text) => {
    const value = /^\d{1,15}$/.test(text) ? Number(text) : Number.NaN;
    return value >= min && value <= max ? value : null;
  });
}

export function parseChoiceSetting<const Choice extends string>(
  env: Env,
  name: SettingName,
  choices: readonly Choice[],
): Choice | undefined {
  const suggestion = nearestWord(env.values[name] ?? '', choices);
  const hint = suggestion === null ? '' : `; did you mean ${suggestion}?`;
  const rule = `one of ${choices.join(', ')}${hint}`;
  return parseSetting(env, name, rule, (text) => choices.find((each) => each === text) ?? null);
}

export function parseHostSetting(env: Env, name: SettingName): string | undefined {
  const rule = 'an IP address or a host name, without a port';
  return parseSetting(env, name, rule, (text) => (isIP(text) !== 0 || isHostName(text) ? text : null));
}

export function parseHostNamesSetting(env: Env, name: SettingName, countMax: number): readonly string[] | undefined {
  const rule = `up to ${countMax} ${hostNamesFormat}, separated by commas`;
  return parseSetting(env, name, rule, (text) => parseList(text, countMax, isHostName));
}

export const hostNamesFormat = 'host names without ports, like marketplace.internal (IP addresses need no entry)';

/** Whether the text is a host name and not an IPv4 address. Underscores are valid, because container names may contain underscores. */
export function isHostName(text: unknown): text is string {
  return typeof text === 'string' && /^(?![\d.]+$)\w(?:[\w.-]{0,251}\w)?$/.test(text);
}

/** Whether only programs on the same machine can connect to a listener on this host. */
export function isLoopbackHost(host: string): boolean {
  return host === 'localhost' || host === '::1' || (isIPv4(host) && host.startsWith('127.'));
}

/** Returns the first entry whose host is not a loopback address, or undefined. A service with a test clock must not have such a listener. */
export function findReachableHost<Name extends string>(hosts: Readonly<Record<Name, string>>) {
  return (Object.entries(hosts) as [Name, string][]).find(([, host]) => !isLoopbackHost(host));
}

export function parseBaseUrlSetting(env: Env, name: SettingName): string | undefined {
  return parseSetting(env, name, baseUrlRule, parseBaseUrl);
}

export function parseOriginsSetting(env: Env, name: SettingName, countMax: number): readonly string[] | undefined {
  const rule = `up to ${countMax} origins separated by commas, each exactly as browsers send it, like https://www.example.com`;
  return parseSetting(env, name, rule, (text) => parseList(text, countMax, isHttpOrigin));
}

/** Returns the items of a comma-separated list without duplicates, or null if there are too many items or an item is invalid. */
function parseList(text: string, countMax: number, isValid: (item: string) => boolean): readonly string[] | null {
  const items = text.split(',').map((each) => each.trim());
  return items.length <= countMax && items.every(isValid) ? [...new Set(items)] : null;
}
