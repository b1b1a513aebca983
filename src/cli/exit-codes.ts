export const exitCodes = { success: 0, failure: 1, usage: 2, damage: 3, incomplete: 4 } as const;

/** Closes the help of every command. */
export const exitCodesHelp = `
Exit codes:
  0  done
  1  it failed; the reason is on standard error
  2  the command line is wrong
  3  a log is damaged (log verify and log inspect)
  4  done but for rejected rows (confirm)`;
