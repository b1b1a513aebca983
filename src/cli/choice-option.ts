import { InvalidArgumentError, Option } from 'commander';
import { nearestWord } from '../domain/nearest-word.ts';

/** An option that takes one of a few values, and proposes the nearest when it gets another. */
export function choiceOption(flags: string, description: string, choices: readonly string[]): Option {
  return new Option(flags, description).choices(choices).argParser(parseChoice(choices));
}

/** Parses what must be one of a few values. */
export function parseChoice<Choice extends string>(choices: readonly Choice[]): (text: string) => Choice {
  return (text) => {
    const choice = choices.find((each) => each === text);
    if (choice !== undefined) return choice;
    const meant = nearestWord(text, choices);
    const hint = meant === null ? '' : ` Did you mean ${meant}?`;
    throw new InvalidArgumentError(`Allowed choices are ${choices.join(', ')}.${hint}`);
  };
}
