import type { Command } from 'commander';

/**
 * Has a command look for its mandatory options last. Commander does so before it looks for options that it does not know, and so says
 * of `--acount x` only that `--account` is missing.
 */
export function requireLast(command: Command): void {
  const mandatory = command.options.filter((option) => option.mandatory);
  for (const option of mandatory) option.makeOptionMandatory(false);
  command.hook('preAction', () => {
    const missing = mandatory.find((option) => command.getOptionValue(option.attributeName()) === undefined);
    if (missing !== undefined) command.error(`error: required option '${missing.flags}' not specified`);
  });
}
