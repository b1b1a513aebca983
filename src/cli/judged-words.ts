import type { Command } from 'commander';
import { nearestWord } from '../domain/nearest-word.ts';

/**
 * The words of a command line, of which those that lead to a command are judged: one that is the name of none ends it as wrongly used.
 * Commander, left to itself, answers `help` and `--help` behind such a word with the help of the command above. `help` ahead of a
 * command, however deep, comes back as `--help` behind it.
 */
export function normalizeArguments(root: Command, words: readonly string[]): string[] {
  let command = root;
  let helpWanted = false;
  const path: string[] = [];
  for (const word of words) {
    // None of the options of a command with others below it takes a value.
    if (word.startsWith('-')) continue;
    const isGroup = command.commands.length > 0;
    const named = command.commands.find((each) => each.name() === word);
    if (named !== undefined) {
      command = named;
      path.push(word);
    } else if (isGroup && word === 'help') {
      helpWanted = true;
    } else if (isGroup || helpWanted) {
      failUnknownCommand(command, word);
    } else {
      break;
    }
  }
  return helpWanted ? [...path, '--help'] : [...words];
}

function failUnknownCommand(command: Command, word: string): never {
  const meant = nearestWord(word, [...command.commands.map((each) => each.name()), 'help']);
  command.error(`error: unknown command '${word}'${meant === null ? '' : `; did you mean ${meant}?`}`);
}
