export const exitCodes = { success: 0, failure: 1, usage: 2, incomplete: 3 } as const;

/** Closes the help of every command. */
export const exitCodesHelp = `
Exit codes:
  0  done
  1  it failed; the reason is on standard error
  2  the command line is wrong
  3  done but for rejected rows (confirm)`;
