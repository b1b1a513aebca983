import type { Command } from 'commander';
import { type ExitCode, exitCodes, exitMeanings } from './command-line-error.ts';

/** Parts of a command's help, other than arguments and options. */
export interface CommandHelp {
  /** Example command lines. Tests run all of them. */
  readonly examples: readonly string[];
  /** Exit codes with their meaning; null stands for the meaning in `exitMeanings`. Codes 0 and 2 apply to every command. */
  readonly exitCodes?: { readonly [Code in ExitCode]?: string | null };
  readonly json?: JsonOutputHelp;
}

/** Description of the output of `--json`. */
export interface JsonOutputHelp {
  readonly output: string;
  /** Description of each member, by name. The name of a nested member is a path with dots. */
  readonly members: Readonly<Record<string, string>>;
}

const helpByCommand = new WeakMap<Command, CommandHelp>();

export function withHelp(command: Command, help: CommandHelp): Command {
  helpByCommand.set(command, help);
  return command;
}

export function helpOf(command: Command): CommandHelp {
  const help = helpByCommand.get(command);
  if (help === undefined) throw new Error(`the command ${command.name()} has no help`);
  return help;
}

/** Returns the exit codes of a command with their meanings, in ascending order. */
export function exitCodesOf(command: Command): (readonly [code: number, meaning: string])[] {
  const own = helpOf(command).exitCodes ?? {};
  const codes = { [exitCodes.success]: null, [exitCodes.usage]: null, ...own };
  return Object.entries(codes).map(([code, meaning]) => [
    Number(code),
    meaning ?? exitMeanings[Number(code) as ExitCode],
  ]);
}

const helpColumns = 100;

/** Formats the part of the help that follows the list of options. */
export function formatHelp(command: Command): string {
  const { json, examples } = helpOf(command);
  const parts: string[] = [];
  if (json !== undefined) {
    const top = Object.keys(json.members).filter((name) => !name.includes('.'));
    const members = top.length === 0 ? json.output : `${json.output}: ${top.join(', ')}`;
    parts.push(`With --json:\n${wrapText(members, '  ')}`);
  }
  parts.push(`Examples:\n${examples.map((line) => `  $ ${line}`).join('\n')}`);
  const exits = exitCodesOf(command);
  const width = Math.max(...exits.map(([code]) => String(code).length));
  parts.push(
    `Exit codes:\n${exits.map(([code, meaning]) => `  ${String(code).padEnd(width)}  ${meaning}`).join('\n')}`,
  );
  return `\n${parts.join('\n\n')}`;
}

function wrapText(text: string, indent: string): string {
  const lines: string[] = [];
  let line = '';
  for (const word of text.split(' ')) {
    if (line !== '' && indent.length + line.length + 1 + word.length > helpColumns) {
      lines.push(indent + line);
      line = '';
    }
    line += line === '' ? word : ` ${word}`;
  }
  return [...lines, indent + line].join('\n');
}
