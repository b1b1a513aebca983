import { isIP } from 'node:net';
import { nearestWord } from '../domain/text.ts';
import { ConfigError, type Env, type SettingName } from './env.ts';

export const baseUrlRule = 'an http or https URL without user, query or fragment, like https://offers.example.com';

/** An absolute URL that paths are appended to, without its trailing slash; null for what is none. */
export function parseBaseUrl(text: string): string | null {
  const url = parseHttpUrl(text);
  if (url === null || url.search !== '' || url.hash !== '' || /[?#]/.test(text)) return null;
  return `${url.origin}${url.pathname.replace(/\/+$/, '')}`;
}

/** Whether it is an origin exactly as a browser sends it. */
export function isHttpOrigin(text: string): boolean {
  return parseHttpUrl(text)?.origin === text;
}

function parseHttpUrl(text: string): URL | null {
  const url = URL.parse(text);
  if (url === null || (url.protocol !== 'http:' && url.protocol !== 'https:')) return null;
  return url.username === '' && url.password === '' ? url : null;
}

/** One parser for each kind of setting. Each returns null when the setting is not set, and throws `ConfigError` when it is wrong. */

export function parseIntegerSetting(env: Env, name: SettingName, min: number, max: number): number | null {
  const text = env.values[name];
  if (text === undefined) return null;
  const value = /^\d{1,15}$/.test(text) ? Number(text) : Number.NaN;
  if (value >= min && value <= max) return value;
  throw ConfigError.invalidValue(name, text, `a whole number from ${min} to ${max}`);
}

export function parseChoiceSetting<const Choice extends string>(
  env: Env,
  name: SettingName,
  choices: readonly Choice[],
): Choice | null {
  const text = env.values[name];
  if (text === undefined) return null;
  const choice = choices.find((one) => one === text);
  if (choice !== undefined) return choice;
  const meant = nearestWord(text, choices);
  const hint = meant === null ? '' : `; did you mean ${meant}?`;
  throw ConfigError.invalidValue(name, text, `one of ${choices.join(', ')}${hint}`);
}

/** An IP address or host name to listen on, without a port. */
export function parseHostSetting(env: Env, name: SettingName): string | null {
  const text = env.values[name];
  if (text === undefined) return null;
  if (isIP(text) !== 0 || isHostName(text)) return text;
  throw ConfigError.invalidValue(name, text, 'an IP address or a host name, without a port');
}

/** Host names separated by commas. */
export function parseHostNamesSetting(env: Env, name: SettingName, most: number): readonly string[] | null {
  const text = env.values[name];
  if (text === undefined) return null;
  const names = text.split(',').map((each) => each.trim());
  if (names.length <= most && names.every(isHostName)) return [...new Set(names)];
  throw ConfigError.invalidValue(name, text, `up to ${most} ${hostNamesRule}, separated by commas`);
}

export const hostNamesRule = 'host names without ports, like marketplace.internal (IP addresses need no entry)';

/** Whether it is a host name and no IPv4 address. Names of containers may have underscores. */
export function isHostName(text: unknown): text is string {
  return typeof text === 'string' && /^(?![\d.]+$)\w(?:[\w.-]{0,251}\w)?$/.test(text);
}

/** An absolute URL that paths are appended to; its trailing slash is dropped. */
export function parseBaseUrlSetting(env: Env, name: SettingName): string | null {
  const text = env.values[name];
  if (text === undefined) return null;
  const url = parseBaseUrl(text);
  if (url !== null) return url;
  throw ConfigError.invalidValue(name, text, baseUrlRule);
}

/** Origins as browsers send them, separated by commas. */
export function parseOriginsSetting(env: Env, name: SettingName, most: number): readonly string[] | null {
  const text = env.values[name];
  if (text === undefined) return null;
  const origins = text.split(',').map((origin) => origin.trim());
  if (origins.length <= most && origins.every(isHttpOrigin)) return [...new Set(origins)];
  throw ConfigError.invalidValue(
    name,
    text,
    `up to ${most} origins separated by commas, each exactly as a browser sends it, like https://www.example.com`,
  );
}
