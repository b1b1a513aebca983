import process from 'node:process';
import { bounds } from '../bounds.ts';
import { escapeInvisible, nearestWord } from '../domain/text.ts';

/** Settings that stop the start. The message is one line for people. */
export class ConfigError extends Error {
  override readonly name = 'ConfigError';
  readonly setting: SettingName;

  private constructor(setting: SettingName, message: string) {
    super(message);
    this.setting = setting;
  }

  /** The variable, what it holds, what it may hold. */
  static invalidValue(setting: SettingName, holds: string, mayHold: string): ConfigError {
    return new ConfigError(setting, `${setting} holds ${quoteForDisplay(holds)}; it may hold ${mayHold}`);
  }

  /** A variable was meant to be a setting, whose place its default would take in silence. */
  static misspelledName(variable: string, meant: SettingName): ConfigError {
    return new ConfigError(
      meant,
      `${escapeInvisible(variable)} is set, but no setting has this name; did you mean ${meant}?`,
    );
  }
}

/** Quoted and escaped, so that no value can break the line or hide in it; and without the password that a URL may hold. */
function quoteForDisplay(text: string): string {
  const { settingCharactersShown: most } = bounds;
  const harmless = text.replaceAll(/\/\/[^/?#]*@/g, '//...@');
  return JSON.stringify(harmless.length > most ? `${harmless.slice(0, most)}...` : harmless);
}

/** Every environment variable of the service; `config.ts` says what each may hold and means. */
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
  'SVC_CORS_ORIGINS',
  'SVC_LOG_LEVEL',
] as const;

export type SettingName = (typeof settingNames)[number];

export interface Env {
  /** As set, without those that are not set or empty: a compose file cannot unset a variable, only empty it. */
  readonly values: { readonly [Name in SettingName]?: string };
  /** Variables with nearly the name of a setting, which they were most likely meant to be. */
  readonly misspelled: readonly { readonly name: string; readonly meant: SettingName }[];
  /** Variables that begin like ours and resemble none of them. */
  readonly unknown: readonly string[];
}

/** Of our settings, and `MARKETPLACE_` of those that the launcher reads before the service is loaded. */
const settingPrefixes = ['SVC_', 'MARKETPLACE_'] as const;

/** What our walk-through of the API reads; people export it in the shell they serve from. */
const demoApiKeyName = 'MARKETPLACE_API_KEY';

/**
 * What an orchestrator tells of the services next to ours. It puts their names in front, so a service called `svc-marketplace`
 * gives `SVC_MARKETPLACE_SERVICE_HOST` to every container, and one called `marketplace` `MARKETPLACE_PORT`.
 */
const kubernetesServiceName =
  /_(?:SERVICE_(?:HOST|PORT(?:_\w+)?)|PORT(?:_\d+_(?:TCP|UDP|SCTP)(?:_(?:PROTO|PORT|ADDR))?)?)$/;

/**
 * Reads the settings. No other place in `src/` takes anything from the environment; the launcher in `bin/` has read and checked
 * `MARKETPLACE_HEAP_MB` by then.
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

/**
 * The prefix does not make two names more alike. A setting is also meant by its name behind the wrong prefix of ours, but for
 * `MARKETPLACE_HOST` and its like: that word is anybody's, and such a name may tell another program where we are.
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
