import { InvalidArgumentError } from 'commander';
import { isAccountName } from '../access/account-name.ts';
import { bounds } from '../bounds.ts';

/** Parses an option that names an account. */
export function parseAccountName(text: string): string {
  if (isAccountName(text)) return text;
  throw new InvalidArgumentError(
    `It must be 1 to ${bounds.accountNameCharactersMax} printable characters without spaces at either end.`,
  );
}
