import type { KeyRegister } from '../access/key-register.ts';

/** Runs a command on the keys and closes the file whatever happens. */
export function withKeyRegister<Result>(register: KeyRegister, run: (register: KeyRegister) => Result): Result {
  try {
    return run(register);
  } finally {
    register.close();
  }
}
