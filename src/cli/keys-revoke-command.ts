import { Command } from 'commander';
import { keyFilePath } from '../access/key-file.ts';
import { KeyRegister } from '../access/key-register.ts';
import { dataDirOf } from '../config/config.ts';
import { readEnv } from '../config/env.ts';
import { systemClock } from '../domain/clock.ts';
import { CommandLineError } from './command-line-error.ts';
import { printResult } from './output.ts';
import { withKeyRegister } from './with-key-register.ts';

export function keysRevokeCommand(): Command {
  return new Command('revoke')
    .summary('end a key for good')
    .description('Ends a key for good. A running server refuses it within two seconds.')
    .argument('<id>', 'the id of the key, as listed; not the key itself')
    .addHelpText(
      'after',
      `
Examples:
  $ marketplace keys revoke key_0123456789ab`,
    )
    .action(revokeKey);
}

function revokeKey(id: string): void {
  const register = KeyRegister.openExisting(keyFilePath(dataDirOf(readEnv())));
  const revocation = withKeyRegister(register, () => register.revoke(id, systemClock.wallMs()));
  // The id is repeated only when it is one of ours: what was pasted here by mistake may be a key.
  if (revocation === 'unknown') throw new CommandLineError('no key has this id; marketplace keys list shows them');
  printResult(revocation === 'revoked' ? `revoked ${id}` : `${id} was revoked before`);
}
