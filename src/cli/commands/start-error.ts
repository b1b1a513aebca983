import { dirname, join, sep } from 'node:path';
import { KeyFileError } from '../../auth/key-file.ts';
import { InvalidCatalogError } from '../../catalogs/catalog-store.ts';
import type { Config } from '../../config/config.ts';
import { ConfigError } from '../../config/env.ts';
import { OperatorError } from '../../domain/operator-error.ts';
import { LogDamagedError } from '../../event-log/segment-reader.ts';
import { dataPaths } from '../../files/data-paths.ts';
import { diskFullMessage, isDiskFullError } from '../../files/durable-files.ts';
import { InvalidCertificateError } from '../../tls/certificate.ts';
import { CommandLineError } from '../command.ts';

/** Error of Node.js or SQLite, with the members that describe the cause. */
interface SystemError extends NodeJS.ErrnoException {
  readonly address?: string;
  readonly hostname?: string;
  readonly port?: number;
}

/** Converts a startup error to an error that names the setting to fix. Returns the error unchanged if no setting is the cause. */
export function toStartupError(error: unknown, config: Config): unknown {
  if (error instanceof InvalidCertificateError) {
    return ConfigError.invalidSettingError(
      error.part === 'key' ? 'SVC_TLS_KEY' : 'SVC_TLS_CERT',
      error.file,
      error.expected,
    );
  }
  if (error instanceof LogDamagedError) return damagedLogError(error, config);
  if (error instanceof KeyFileError)
    return new CommandLineError(`${error.message} (see SVC_DATA_DIR)`, { cause: error });
  if (error instanceof InvalidCatalogError) return catalogError(error, config);
  // The message of any other OperatorError already states the fix, also if the error has a path, such as that of a missing folder.
  if (!(error instanceof Error) || error instanceof OperatorError) return error;
  const { code = '', syscall = '', path } = error as SystemError;
  if (isDiskFullError(error)) return diskFullError(error, path, config);
  if (syscall === 'listen' || syscall === 'bind' || syscall === 'getaddrinfo')
    return listenError(error as SystemError, config);
  if (path !== undefined) return pathError(path, code, error, config);
  // SQLite errors contain no file path, so the message names the data folder, which contains all SQLite files.
  if (/^SQLITE_(CANTOPEN|READONLY|IOERR|PERM)/.test(code)) return dataFolderError(config, code);
  return error;
}

/** Returns an error that describes how to fix a damaged log. Removing a log of the journal deletes the pocket fields in this log. */
function damagedLogError(error: LogDamagedError, { dataDir }: Config): CommandLineError {
  const journal = dataPaths(dataDir).journalFolder + sep;
  if (!error.file.startsWith(journal)) {
    return new CommandLineError(`${error.message} (see marketplace log verify)`, { cause: error });
  }
  const log = join(journal, error.file.slice(journal.length).split(sep, 1)[0]!);
  const remedy = `repair it, or move ${log} away: inputs of live sessions must then be submitted again`;
  return new CommandLineError(`${error.message}; ${remedy}`, { cause: error });
}

function catalogError(error: InvalidCatalogError, { catalogPath }: Config): CommandLineError {
  const subject =
    catalogPath === null
      ? 'the catalog cannot be used'
      : `the catalog ${error.file ?? catalogPath} cannot be used (see SVC_CATALOG)`;
  const more = error.errors.length > 1 ? ` (and ${error.errors.length - 1} more)` : '';
  return new CommandLineError(`${subject}: ${error.errors[0]}${more}`, { cause: error });
}

function listenError(error: SystemError, { listen }: Config): Error {
  const { code, address, hostname, port } = error;
  if (code === 'EADDRINUSE' || code === 'EACCES') {
    const setting = port === listen.operationsPort ? 'SVC_OPS_PORT' : 'SVC_PORT';
    const allowed = code === 'EADDRINUSE' ? 'an unused port' : 'a port that this process may listen on';
    return ConfigError.invalidSettingError(setting, String(port), `${allowed} (${code})`);
  }
  const host = hostname ?? address;
  const setting = host === listen.operationsHost && host !== listen.host ? 'SVC_OPS_HOST' : 'SVC_HOST';
  return ConfigError.invalidSettingError(setting, String(host), `an address of this machine (${code})`);
}

/** Returns an error that names the setting of a file path, or the original error if no setting contains the path. */
function pathError(path: string, code: string, error: Error, config: Config): unknown {
  const { secretFile, dataDir } = config;
  const isSecret = [secretFile, `${secretFile}.new`, dirname(secretFile)].includes(path);
  if (isSecret && dirname(secretFile) !== dataDir) {
    const rule = `a file in a folder that this process may use (${code})`;
    return ConfigError.invalidSettingError('SVC_SECRET_FILE', secretFile, rule);
  }
  if (path === dataDir || path.startsWith(`${dataDir}${sep}`) || dataDir.startsWith(`${path}${sep}`)) {
    return dataFolderError(config, path === dataDir ? code : `${code} at ${JSON.stringify(path)}`);
  }
  return error;
}

function diskFullError(error: Error, path: string | undefined, { dataDir, secretFile }: Config): CommandLineError {
  const isSecret = path !== undefined && dirname(path) === dirname(secretFile) && dirname(secretFile) !== dataDir;
  const [folder, setting] = isSecret ? [dirname(secretFile), 'SVC_SECRET_FILE'] : [dataDir, 'SVC_DATA_DIR'];
  return new CommandLineError(`${diskFullMessage(folder)} (see ${setting})`, { cause: error });
}

function dataFolderError({ dataDir }: Config, reason: string): ConfigError {
  return ConfigError.invalidSettingError(
    'SVC_DATA_DIR',
    dataDir,
    `a folder that this process may create and write (${reason})`,
  );
}
