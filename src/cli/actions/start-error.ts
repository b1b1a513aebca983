import { dirname, join, sep } from 'node:path';
import { KeyFileError } from '../../auth/key-file.ts';
import { InvalidCatalogError } from '../../catalogs/catalog-store.ts';
import type { Config } from '../../config/config.ts';
import { ConfigError } from '../../config/env.ts';
import { LogDamagedError } from '../../event-log/segment-reader.ts';
import { diskFullMessage, isDiskFull } from '../../files/durable-files.ts';
import { FolderInUseError } from '../../files/folder-lock.ts';
import { SecretFileError } from '../../secrets/secret-file.ts';
import { FolderMissingError } from '../../server/open-data-folder.ts';
import { InvalidCertificateError } from '../../tls/certificate.ts';
import { CommandLineError } from '../command-line-error.ts';

/** Of what Node and SQLite throw, the members that tell an operator what to mend. */
interface SystemErrorDetails {
  readonly code?: string;
  readonly syscall?: string;
  readonly path?: string;
  readonly address?: string;
  readonly hostname?: string;
  readonly port?: number;
}

/** Turns a failed start that an operator can mend into one line that names the setting to mend; anything else stays as it is. */
export function toStartError(fault: unknown, config: Config): unknown {
  if (fault instanceof FolderInUseError || fault instanceof FolderMissingError || fault instanceof SecretFileError) {
    return new CommandLineError(fault.message, { cause: fault });
  }
  if (fault instanceof InvalidCertificateError) {
    return ConfigError.invalidValue(fault.part === 'key' ? 'SVC_TLS_KEY' : 'SVC_TLS_CERT', fault.file, fault.expected);
  }
  if (fault instanceof LogDamagedError) return damagedLogError(fault, config);
  if (fault instanceof KeyFileError)
    return new CommandLineError(`${fault.message} (see SVC_DATA_DIR)`, { cause: fault });
  if (fault instanceof InvalidCatalogError) return catalogError(fault, config);
  if (!(fault instanceof Error)) return fault;
  const { code = '', syscall = '', path } = fault as Error & SystemErrorDetails;
  if (isDiskFull(fault)) return diskFullError(fault, path, config);
  if (syscall === 'listen' || syscall === 'bind' || syscall === 'getaddrinfo')
    return listenError(fault as SystemErrorDetails, config);
  if (path !== undefined) return pathError(path, code, fault, config);
  // SQLite does not tell which file; all of its files are in the data folder.
  if (/^SQLITE_(CANTOPEN|READONLY|IOERR|PERM)/.test(code)) return dataFolderError(config, code);
  return fault;
}

/** A damaged journal costs live sessions their fields, a damaged ledger costs figures: only the first is for a shrug. */
function damagedLogError(fault: LogDamagedError, { dataDir }: Config): CommandLineError {
  const journal = join(dataDir, 'journal') + sep;
  if (!fault.file.startsWith(journal)) {
    return new CommandLineError(`${fault.message} (see marketplace log verify)`, { cause: fault });
  }
  const epoch = join(journal, fault.file.slice(journal.length).split(sep, 1)[0]!);
  const remedy = `mend it, or move ${epoch} away: live sessions then have to be sent their inputs again`;
  return new CommandLineError(`${fault.message}; ${remedy}`, { cause: fault });
}

function catalogError(fault: InvalidCatalogError, { catalog }: Config): CommandLineError {
  const which =
    catalog.kind === 'file'
      ? `the catalog ${catalog.path} cannot be used (see SVC_CATALOG)`
      : 'the catalog cannot be used';
  const more = fault.errors.length > 1 ? ` (and ${fault.errors.length - 1} more)` : '';
  return new CommandLineError(`${which}: ${fault.errors[0]}${more}`, { cause: fault });
}

function listenError(fault: SystemErrorDetails, { publicEndpoint, operationsEndpoint }: Config): Error {
  const { code, address, hostname, port } = fault;
  if (code === 'EADDRINUSE' || code === 'EACCES') {
    const setting = port === operationsEndpoint.port ? 'SVC_OPS_PORT' : 'SVC_PORT';
    const mayHold =
      code === 'EADDRINUSE' ? 'a port that nobody else listens on' : 'a port that this process may listen on';
    return ConfigError.invalidValue(setting, String(port), `${mayHold} (${code})`);
  }
  const host = hostname ?? address;
  const setting = host === operationsEndpoint.host && host !== publicEndpoint.host ? 'SVC_OPS_HOST' : 'SVC_HOST';
  return ConfigError.invalidValue(setting, String(host), `an address of this machine (${code})`);
}

/** The setting that owns a path is the one whose file or folder it is, is in, or leads to. */
function pathError(path: string, code: string, fault: Error, config: Config): unknown {
  const { secretFile, dataDir } = config;
  if (path === secretFile || path === `${secretFile}.new` || path === dirname(secretFile)) {
    if (dirname(secretFile) !== dataDir) {
      return ConfigError.invalidValue(
        'SVC_SECRET_FILE',
        secretFile,
        `a file in a folder that this process may use (${code})`,
      );
    }
  }
  if (path === dataDir || path.startsWith(`${dataDir}${sep}`) || dataDir.startsWith(`${path}${sep}`)) {
    return dataFolderError(config, path === dataDir ? code : `${code} at ${JSON.stringify(path)}`);
  }
  return fault;
}

/** SQLite does not tell which file; all of its files are in the data folder. */
function diskFullError(fault: Error, path: string | undefined, { dataDir, secretFile }: Config): CommandLineError {
  const isSecret = path !== undefined && dirname(path) === dirname(secretFile) && dirname(secretFile) !== dataDir;
  const [folder, setting] = isSecret ? [dirname(secretFile), 'SVC_SECRET_FILE'] : [dataDir, 'SVC_DATA_DIR'];
  return new CommandLineError(`${diskFullMessage(folder)} (see ${setting})`, { cause: fault });
}

function dataFolderError({ dataDir }: Config, reason: string): ConfigError {
  return ConfigError.invalidValue(
    'SVC_DATA_DIR',
    dataDir,
    `a folder that this process may create and write (${reason})`,
  );
}
