import { isIP } from 'node:net';
import { nearestWord } from '../domain/text.ts';
import { ConfigError, type Env, type SettingName } from './env.ts';

export const baseUrlRule = 'an http or https URL without user, query or fragment, like https://offers.example.com';

/** Parses a base URL. Returns the URL without its trailing slash, or null if the URL is invalid. */
export function parseBaseUrl(text: string): string | null {
  const url = parseHttpUrl(text);
  if (url === null || url.search !== '' || url.hash !== '' || /[?#]/.test(text)) return null;
  return `${url.origin}${url.pathname.replace(/\/+$/, '')}`;
}

/** Whether the text is an origin in the form that browsers send. Unlike `auth/web-origin.ts`, this accepts IPv6 hosts and http. */
export function isHttpOrigin(text: string): boolean {
  return parseHttpUrl(text)?.origin === text;
}

function parseHttpUrl(text: string): URL | null {
  const url = URL.parse(text);
  if (url === null || (url.protocol !== 'http:' && url.protocol !== 'https:')) return null;
  return url.username === '' && url.password === '' ? url : null;
}

// The functions below return null if the setting is absent, and throw `ConfigError` if it is invalid.

export function parseIntegerSetting(env: Env, name: SettingName, min: number, max: number): number | null {
  const text = env.values[name];
  if (text === undefined) return null;
  const value = /^\d{1,15}$/.test(text) ? Number(text) : Number.NaN;
  if (value >= min && value <= max) return value;
  throw ConfigError.invalidValue(name, text, `an integer from ${min} to ${max}`);
}

export function parseChoiceSetting<const Choice extends string>(
  env: Env,
  name: SettingName,
  choices: readonly Choice[],
): Choice | null {
  const text = env.values[name];
  if (text === undefined) return null;
  const choice = choices.find((each) => each === text);
  if (choice !== undefined) return choice;
  const suggestion = nearestWord(text, choices);
  const hint = suggestion === null ? '' : `; did you mean ${suggestion}?`;
  throw ConfigError.invalidValue(name, text, `one of ${choices.join(', ')}${hint}`);
}

export function parseHostSetting(env: Env, name: SettingName): string | null {
  const text = env.values[name];
  if (text === undefined) return null;
  if (isIP(text) !== 0 || isHostName(text)) return text;
  throw ConfigError.invalidValue(name, text, 'an IP address or a host name, without a port');
}

/** Parses a setting with host names that are separated by commas. */
export function parseHostNamesSetting(env: Env, name: SettingName, countMax: number): readonly string[] | null {
  const text = env.values[name];
  if (text === undefined) return null;
  const names = text.split(',').map((each) => each.trim());
  if (names.length <= countMax && names.every(isHostName)) return [...new Set(names)];
  throw ConfigError.invalidValue(name, text, `up to ${countMax} ${hostNamesRule}, separated by commas`);
}

export const hostNamesRule = 'host names without ports, like marketplace.internal (IP addresses need no entry)';

/** Whether the text is a host name and not an IPv4 address. Container names may contain underscores. */
export function isHostName(text: unknown): text is string {
  return typeof text === 'string' && /^(?![\d.]+$)\w(?:[\w.-]{0,251}\w)?$/.test(text);
}

export function parseBaseUrlSetting(env: Env, name: SettingName): string | null {
  const text = env.values[name];
  if (text === undefined) return null;
  const url = parseBaseUrl(text);
  if (url !== null) return url;
  throw ConfigError.invalidValue(name, text, baseUrlRule);
}

/** Parses a setting with origins that are separated by commas. */
export function parseOriginsSetting(env: Env, name: SettingName, countMax: number): readonly string[] | null {
  const text = env.values[name];
  if (text === undefined) return null;
  const origins = text.split(',').map((origin) => origin.trim());
  if (origins.length <= countMax && origins.every(isHttpOrigin)) return [...new Set(origins)];
  throw ConfigError.invalidValue(
    name,
    text,
    `up to ${countMax} origins separated by commas, each exactly as browsers send it, like https://www.example.com`,
  );
}
