import process from 'node:process';

/** Every environment variable of the service; `config.ts` says what each may hold and means. */
export const settingNames = [
  'SVC_HOST',
  'SVC_PORT',
  'SVC_OPS_HOST',
  'SVC_OPS_PORT',
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
  'SVC_LIMIT_REQUESTS_PER_MINUTE',
  'SVC_LIMIT_ANALYTICS_PER_MINUTE',
  'SVC_LIMIT_SESSIONS_PER_DAY',
  'SVC_CORS_ORIGINS',
  'SVC_LOG_LEVEL',
] as const;

export type SettingName = (typeof settingNames)[number];

export interface Env {
  /** As set, without those that are not set or empty: a compose file cannot unset a variable, only empty it. */
  readonly values: { readonly [Name in SettingName]?: string };
  /** Variables that look like ours and are not, most likely misspelt. */
  readonly unknown: readonly string[];
}

/** Reads the settings. No other place in `src/` takes anything from the environment; the launcher in `bin/` has a variable of its own. */
export function readEnv(environment: Readonly<Record<string, string | undefined>> = process.env): Env {
  const values: { [Name in SettingName]?: string } = {};
  for (const name of settingNames) {
    const value = environment[name];
    if (value !== undefined && value !== '') values[name] = value;
  }
  const known = new Set<string>(settingNames);
  const unknown = Object.keys(environment).filter((name) => name.startsWith('SVC_') && !known.has(name));
  return { values, unknown };
}
