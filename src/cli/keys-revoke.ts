import { toIssuedKeyJson } from '../access/issued-key-json.ts';
import { keyFilePath } from '../access/key-file.ts';
import { KeyRegistry } from '../access/key-register.ts';
import { readDataDir } from '../config/config.ts';
import { readEnv } from '../config/env.ts';
import { systemClock } from '../domain/clock.ts';
import { CommandLineError } from './command-line-error.ts';
import { printJson, printResult } from './output.ts';
import { withKeyRegister } from './with-key-register.ts';

export function revokeKey(id: string, { json }: { readonly json?: true }): void {
  const path = keyFilePath(readDataDir(readEnv()));
  const nowMs = systemClock.wallMs();
  const { revocation, issued } = withKeyRegister(
    () => KeyRegistry.openExisting(path),
    (register) => ({ revocation: register.revoke(id, nowMs), issued: register.find(id) }),
  );
  // The id is repeated only when it is one of ours: what was pasted here by mistake may be a key.
  if (issued === undefined) throw new CommandLineError('no key has this id; marketplace keys list shows them');
  const before = revocation === 'already_revoked';
  if (json) printJson({ ...toIssuedKeyJson(issued, nowMs), revoked_before: before });
  else printResult(before ? `${id} was revoked before` : `revoked ${id}`);
}
