import type { Command } from 'commander';
import { type ExitCode, exitCodes, exitMeanings } from './exit-codes.ts';

/** What the help of a command tells beside its arguments and options. */
export interface Guide {
  /** Whole command lines, which work as they are written. */
  readonly examples: readonly string[];
  /**
   * Exit codes it can end with, in its own words; null: in those of `exitMeanings`. Every command ends with 0 or, wrongly called,
   * with 2: these need not be told.
   */
  readonly exits?: { readonly [Code in ExitCode]?: string | null };
  readonly json?: JsonGuide;
}

/** What `--json` prints. */
export interface JsonGuide {
  /** Such as `one object`. */
  readonly prints: string;
  /** Each member of it and what it holds; dots lead to members of members. */
  readonly members: Readonly<Record<string, string>>;
}

const guides = new WeakMap<Command, Guide>();

/** Gives a command its guide. */
export function guided(command: Command, guide: Guide): Command {
  guides.set(command, guide);
  return command;
}

export function guideOf(command: Command): Guide {
  const guide = guides.get(command);
  if (guide === undefined) throw new Error(`the command ${command.name()} has no guide`);
  return guide;
}

/** Exit codes of a command with what they mean, ascending. */
export function exitsOf(command: Command): (readonly [code: number, meaning: string])[] {
  const own = guideOf(command).exits ?? {};
  const codes = { [exitCodes.success]: null, [exitCodes.usage]: null, ...own };
  return Object.entries(codes).map(([code, meaning]) => [
    Number(code),
    meaning ?? exitMeanings[Number(code) as ExitCode],
  ]);
}

const helpColumns = 100;

/** What stands below the options in the help of a command. */
export function guideText(command: Command): string {
  const { json, examples } = guideOf(command);
  const parts: string[] = [];
  if (json !== undefined) {
    const top = Object.keys(json.members).filter((name) => !name.includes('.'));
    const members = top.length === 0 ? json.prints : `${json.prints}: ${top.join(', ')}`;
    parts.push(`With --json:\n${wrapped(members, '  ')}`);
  }
  parts.push(`Examples:\n${examples.map((line) => `  $ ${line}`).join('\n')}`);
  const exits = exitsOf(command);
  const width = Math.max(...exits.map(([code]) => String(code).length));
  parts.push(
    `Exit codes:\n${exits.map(([code, meaning]) => `  ${String(code).padEnd(width)}  ${meaning}`).join('\n')}`,
  );
  return `\n${parts.join('\n\n')}`;
}

function wrapped(text: string, indent: string): string {
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
