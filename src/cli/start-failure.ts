import { FolderInUse } from '../events/folder-lock.ts';
import { LogDamaged } from '../events/segment-reader.ts';
import { CatalogUnusable } from '../offers/catalog-library.ts';
import { SecretFileError } from '../secrets/secret-file.ts';
import { CommandLineError } from './command-line-error.ts';

/** Turns a failed start that an operator can mend into words without a stack; anything else stays as it is. */
export function startFailure(fault: unknown): unknown {
  if (fault instanceof FolderInUse || fault instanceof SecretFileError || fault instanceof LogDamaged) {
    return new CommandLineError(fault.message, { cause: fault });
  }
  if (fault instanceof CatalogUnusable) {
    const more = fault.faults.length > 1 ? ` (and ${fault.faults.length - 1} more)` : '';
    return new CommandLineError(`the catalog cannot be used: ${fault.faults[0]}${more}`, { cause: fault });
  }
  const { syscall, code, address, port } = fault as {
    syscall?: string;
    code?: string;
    address?: string;
    port?: number;
  };
  if (syscall === 'listen' || syscall === 'bind' || syscall === 'getaddrinfo') {
    const where = address === undefined ? '' : ` on ${address}:${port}`;
    return new CommandLineError(
      `cannot listen${where} (${code}); see SVC_HOST, SVC_PORT, SVC_OPS_HOST and SVC_OPS_PORT`,
      {
        cause: fault,
      },
    );
  }
  return fault;
}
