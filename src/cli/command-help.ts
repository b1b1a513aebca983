import type { Command } from 'commander';
import { type ExitCode, exitCodes, exitMeanings } from './command-line-error.ts';

/** What the help of a command tells beside its arguments and options, and docs/command-line.md with it. */
export interface CommandHelp {
  /** Whole command lines, which work as they are written. */
  readonly examples: readonly string[];
  /**
   * Exit codes it can end with, in its own words; null: in those of `exitMeanings`. Every command ends with 0 or, wrongly called,
   * with 2: these need not be told.
   */
  readonly exitCodes?: { readonly [Code in ExitCode]?: string | null };
  readonly json?: JsonOutputHelp;
}

/** What `--json` prints. */
export interface JsonOutputHelp {
  /** Such as `one object`. */
  readonly output: string;
  /** Each member of it and what it holds; dots lead to members of members. */
  readonly members: Readonly<Record<string, string>>;
}

const helpByCommand = new WeakMap<Command, CommandHelp>();

/** Gives a command its guide. */
export function withHelp(command: Command, guide: CommandHelp): Command {
  helpByCommand.set(command, guide);
  return command;
}

export function helpOf(command: Command): CommandHelp {
  const guide = helpByCommand.get(command);
  if (guide === undefined) throw new Error(`the command ${command.name()} has no guide`);
  return guide;
}

/** Exit codes of a command with what they mean, ascending. */
export function exitCodesOf(command: Command): (readonly [code: number, meaning: string])[] {
  const own = helpOf(command).exitCodes ?? {};
  const codes = { [exitCodes.success]: null, [exitCodes.usage]: null, ...own };
  return Object.entries(codes).map(([code, meaning]) => [
    Number(code),
    meaning ?? exitMeanings[Number(code) as ExitCode],
  ]);
}

const helpColumns = 100;

/** What stands below the options in the help of a command. */
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
