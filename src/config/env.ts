import process from 'node:process';
import { bounds } from '../bounds.ts';
import { escapeInvisibleCharacters, nearestWord } from '../domain/text.ts';

/** Error for an invalid or misspelled setting. The error message has one line. */
export class ConfigError extends Error {
  override readonly name = 'ConfigError';
  readonly setting: SettingName;

  private constructor(setting: SettingName, message: string) {
    super(message);
    this.setting = setting;
  }

  /** @param rule allowed values, such as "an integer from 1 to 9"; the error message says that the setting must be `rule` */
  static invalidSettingError(setting: SettingName, value: string, rule: string): ConfigError {
    return new ConfigError(setting, `${setting} is ${quoteForDisplay(value)}; it must be ${rule}`);
  }

  /** Creates the error for an environment variable whose name is probably a misspelled setting. */
  static misspelledSettingError(variable: string, setting: SettingName): ConfigError {
    return new ConfigError(
      setting,
      `${escapeInvisibleCharacters(variable)} is set, but no setting has this name; did you mean ${setting}?`,
    );
  }
}

/** Quotes, escapes and shortens a value, and removes the password of a URL. */
function quoteForDisplay(text: string): string {
  const { settingCharactersShown: lengthMax } = bounds;
  const redacted = text.replaceAll(/\/\/[^/?#]*@/g, '//...@');
  return JSON.stringify(redacted.length > lengthMax ? `${redacted.slice(0, lengthMax)}...` : redacted);
}

/** All environment variables of the service. `config.ts` documents and validates the values of the variables. */
export const settingNames = [
  'SVC_HOST',
  'SVC_PORT',
  'SVC_OPS_HOST',
  'SVC_OPS_PORT',
  'SVC_OPS_ALLOWED_HOSTS',
  'SVC_TLS_CERT',
  'SVC_TLS_KEY',
  'SVC_TLS_MIN_VERSION',
  'SVC_PUBLIC_URL',
  'SVC_CLICK_URL',
  'SVC_WIDGET_URL',
  'SVC_CDN_URL',
  'SVC_DATA_DIR',
  'SVC_SECRET_FILE',
  'SVC_CATALOG',
  'SVC_LISTENER',
  'SVC_DRAIN_DELAY_SECONDS',
  'SVC_DRAIN_DEADLINE_SECONDS',
  'SVC_SHARDS',
  'SVC_MATCHER_THREADS',
  'SVC_DURABILITY',
  'SVC_RETENTION_DAYS',
  'SVC_MAX_SESSIONS',
  'SVC_SESSION_TTL_SECONDS',
  'MARKETPLACE_HEAP_MB',
  'SVC_LIMIT_REQUESTS_PER_MINUTE',
  'SVC_LIMIT_ANALYTICS_PER_MINUTE',
  'SVC_LIMIT_SESSIONS_PER_DAY',
  'SVC_LIMIT_REFERRER_TAGS',
  'SVC_CONFIRMATION_GRACE_DAYS',
  'SVC_CORS_ORIGINS',
  'SVC_TEST_CLOCK',
  'SVC_LOG_LEVEL',
] as const;

export type SettingName = (typeof settingNames)[number];

export interface Env {
  /** Values of the settings. An empty variable counts as absent, because a Compose file cannot unset a variable. */
  readonly values: { readonly [Name in SettingName]?: string };
  /** Environment variables with a probably misspelled name, and the settings that were probably meant. */
  readonly misspelled: readonly { readonly name: string; readonly meant: SettingName }[];
  /** Variables with the prefix `SVC_` or `MARKETPLACE_` whose names are not similar to any setting, except Kubernetes variables. */
  readonly unknown: readonly string[];
}

/** Prefixes of environment variables. The launcher reads variables with the prefix `MARKETPLACE_` before it loads the service. */
const settingPrefixes = ['SVC_', 'MARKETPLACE_'] as const;

/** The documentation uses this variable for an API key, so the service does not warn that the variable is unknown. */
const demoApiKeyName = 'MARKETPLACE_API_KEY';

/**
 * Pattern for names of environment variables that Kubernetes sets for the services of a cluster. For a service named `svc-marketplace`, for
 * example, Kubernetes sets `SVC_MARKETPLACE_SERVICE_HOST`.
 */
const kubernetesServiceName =
  /_(?:SERVICE_(?:HOST|PORT(?:_\w+)?)|PORT(?:_\d+_(?:TCP|UDP|SCTP)(?:_(?:PROTO|PORT|ADDR))?)?)$/;

/**
 * Reads the settings from the environment. No other code in `src/` reads environment variables. The launcher in `bin/` has already
 * validated `MARKETPLACE_HEAP_MB`.
 */
export function readEnv(environment: Readonly<Record<string, string | undefined>> = process.env): Env {
  const values: { [Name in SettingName]?: string } = {};
  for (const name of settingNames) {
    const value = environment[name];
    if (value !== undefined && value !== '') values[name] = value;
  }
  const known = new Set<string>([...settingNames, demoApiKeyName]);
  const others = Object.keys(environment).filter((name) => prefixOf(name) !== undefined && !known.has(name));
  const misspelled = others.flatMap((name) => {
    const meant = nearestSetting(name);
    return meant === null ? [] : [{ name, meant }];
  });
  const unknown = others.filter((name) => nearestSetting(name) === null && !kubernetesServiceName.test(name));
  return { values, misspelled, unknown };
}

/** Returns the environment of this process with other values of some settings, for a child process. */
export function environmentWith(values: Env['values']): NodeJS.ProcessEnv {
  return { ...process.env, ...values };
}

/**
 * Returns the setting whose name is similar to `name`, or null. The name of an `SVC_` variable is compared with the names of all settings
 * without their prefixes: `SVC_HEAP_MB` is similar to `MARKETPLACE_HEAP_MB`. The name of a `MARKETPLACE_` variable is compared only with
 * `MARKETPLACE_` settings, because a variable like `MARKETPLACE_HOST` may belong to another program.
 */
function nearestSetting(name: string): SettingName | null {
  const prefix = prefixOf(name);
  const candidates = prefix === 'SVC_' ? settingNames : settingNames.filter((each) => prefixOf(each) === prefix);
  const meant = nearestWord(withoutPrefix(name), candidates.map(withoutPrefix));
  return candidates.find((each) => withoutPrefix(each) === meant) ?? null;
}

function prefixOf(name: string): string | undefined {
  return settingPrefixes.find((prefix) => name.startsWith(prefix));
}

function withoutPrefix(name: string): string {
  return name.slice(prefixOf(name)?.length);
}
