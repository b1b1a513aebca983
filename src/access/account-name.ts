import { bounds } from '../bounds.ts';

/** Whether an account may be called this: 1 to 64 printable characters without spaces at either end. */
export function isAccountName(text: string): boolean {
  return (
    text.length <= bounds.accountNameCharactersMax && text.trim() === text && /^[^\p{C}\p{Zl}\p{Zp}]+$/u.test(text)
  );
}
