import type { Command, Option } from 'commander';

const requiredOptions = new WeakSet<Option>();

/**
 * Has a command look for its mandatory options last. Commander does so before it looks for options that it does not know, and so says
 * of `--acount x` only that `--account` is missing.
 */
export function checkRequiredOptionsLast(command: Command): void {
  const mandatory = command.options.filter((option) => option.mandatory);
  for (const option of mandatory) {
    option.makeOptionMandatory(false);
    requiredOptions.add(option);
  }
  command.hook('preAction', () => {
    const missing = mandatory.find((option) => command.getOptionValue(option.attributeName()) === undefined);
    if (missing !== undefined) command.error(`error: required option '${missing.flags}' not specified`);
  });
}

/** Whether an option of a command of `program` must be given. */
export function isRequiredOption(option: Option): boolean {
  return requiredOptions.has(option);
}
