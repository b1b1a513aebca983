import { isIP } from 'node:net';
import { nearestWord } from '../domain/nearest-word.ts';
import { baseUrl, baseUrlExpected, isWebOrigin } from './base-url.ts';
import { ConfigError } from './config-error.ts';
import type { Env, SettingName } from './env.ts';

/** One parser for each kind of setting. Each returns null when the setting is not set, and throws `ConfigError` when it is wrong. */

export function wholeNumberSetting(env: Env, name: SettingName, min: number, max: number): number | null {
  const text = env.values[name];
  if (text === undefined) return null;
  const value = /^\d{1,15}$/.test(text) ? Number(text) : Number.NaN;
  if (value >= min && value <= max) return value;
  throw ConfigError.wrong(name, text, `a whole number from ${min} to ${max}`);
}

export function choiceSetting<const Choice extends string>(
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
  throw ConfigError.wrong(name, text, `one of ${choices.join(', ')}${hint}`);
}

/** An IP address or host name to listen on, without a port. */
export function hostSetting(env: Env, name: SettingName): string | null {
  const text = env.values[name];
  if (text === undefined) return null;
  if (isIP(text) !== 0 || /^(?![\d.]+$)[A-Za-z0-9](?:[A-Za-z0-9.-]{0,251}[A-Za-z0-9])?$/.test(text)) return text;
  throw ConfigError.wrong(name, text, 'an IP address or a host name, without a port');
}

/** An absolute URL that paths are appended to; its trailing slash is dropped. */
export function baseUrlSetting(env: Env, name: SettingName): string | null {
  const text = env.values[name];
  if (text === undefined) return null;
  const url = baseUrl(text);
  if (url !== null) return url;
  throw ConfigError.wrong(name, text, baseUrlExpected);
}

/** Origins as browsers send them, separated by commas. */
export function originsSetting(env: Env, name: SettingName, most: number): readonly string[] | null {
  const text = env.values[name];
  if (text === undefined) return null;
  const origins = text.split(',').map((origin) => origin.trim());
  if (origins.length <= most && origins.every(isWebOrigin)) return [...new Set(origins)];
  throw ConfigError.wrong(
    name,
    text,
    `up to ${most} origins separated by commas, each exactly as a browser sends it, like https://www.example.com`,
  );
}
