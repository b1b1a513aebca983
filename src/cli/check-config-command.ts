import { Command } from 'commander';
import { type Config, loadConfig } from '../config/config.ts';
import { readEnv, type SettingName } from '../config/env.ts';
import { resolveUrls } from '../config/resolve-urls.ts';
import { printResult, say, table } from './output.ts';

export function checkConfigCommand(): Command {
  return new Command('check-config')
    .summary('check the settings and show what they come to')
    .description(
      'Checks the environment variables of the service, and shows what each comes to and where that is from.',
    )
    .option('--json', 'print the configuration as JSON')
    .addHelpText(
      'after',
      `
Examples:
  $ marketplace check-config
  $ SVC_PORT=99999 marketplace check-config || echo refused`,
    )
    .action(checkConfig);
}

function checkConfig(options: { readonly json?: true }): void {
  const env = readEnv();
  const { config, warnings } = loadConfig(env);
  const { urls, warning } = resolveUrls(config, config.listen.port);
  for (const one of warning === null ? warnings : [...warnings, warning]) say(`marketplace: warning: ${one}`);
  if (options.json) {
    printResult(JSON.stringify({ ...config, urls }, null, 2));
    return;
  }
  const rows = Object.entries(settingTexts({ ...config, urls })).map(([name, text]) => [
    name,
    text,
    env.values[name as SettingName] === undefined ? 'default' : 'environment',
  ]);
  printResult(table(['SETTING', 'VALUE', 'FROM'], rows));
}

/** Every setting as a text it could be set to. */
function settingTexts(config: Config): { readonly [Name in SettingName]: string } {
  return {
    SVC_HOST: config.listen.host,
    SVC_PORT: String(config.listen.port),
    SVC_OPS_HOST: config.operations.host,
    SVC_OPS_PORT: String(config.operations.port),
    SVC_TLS_CERT: config.tls?.certificateFile ?? '(none)',
    SVC_TLS_KEY: config.tls?.keyFile ?? '(none)',
    SVC_TLS_MIN_VERSION: config.tls?.minVersion ?? '(none)',
    SVC_PUBLIC_URL: config.urls.public ?? '',
    SVC_CLICK_URL: config.urls.click ?? '',
    SVC_WIDGET_URL: config.urls.widget ?? '',
    SVC_CDN_URL: config.urls.cdn ?? '',
    SVC_DATA_DIR: config.dataDir,
    SVC_SECRET_FILE: config.secretFile,
    SVC_CATALOG: config.catalog.kind === 'example' ? '(the example catalog)' : config.catalog.path,
    SVC_LISTENER: config.listener,
    SVC_DRAIN_DELAY_SECONDS: String(config.drain.delayMs / 1000),
    SVC_DRAIN_DEADLINE_SECONDS: String(config.drain.deadlineMs / 1000),
    SVC_MATCHER_THREADS: config.matcher.kind === 'in_thread' ? '0' : String(config.matcher.threads),
    SVC_DURABILITY: config.durability,
    SVC_RETENTION_DAYS: config.retentionDays === null ? '(for ever)' : String(config.retentionDays),
    SVC_MAX_SESSIONS: String(config.sessions.max),
    SVC_SESSION_TTL_SECONDS: String(config.sessions.ttlMs / 1000),
    SVC_LIMIT_REQUESTS_PER_MINUTE: String(config.limits.requestsPerMinute),
    SVC_LIMIT_ANALYTICS_PER_MINUTE: String(config.limits.analyticsPerMinute),
    SVC_LIMIT_SESSIONS_PER_DAY: String(config.limits.sessionsPerDay),
    SVC_CORS_ORIGINS: config.cors.kind === 'off' ? '(none)' : config.cors.origins.join(','),
    SVC_LOG_LEVEL: config.logLevel,
  };
}
