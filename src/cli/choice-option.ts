import { InvalidArgumentError, Option } from 'commander';
import { nearestWord } from '../domain/nearest-word.ts';

/** An option that takes one of a few values, and proposes the nearest when it gets another. */
export function choiceOption(flags: string, description: string, choices: readonly string[]): Option {
  return new Option(flags, description).choices(choices).argParser((text) => {
    if (choices.includes(text)) return text;
    const meant = nearestWord(text, choices);
    throw new InvalidArgumentError(
      `Allowed choices are ${choices.join(', ')}.${meant === null ? '' : `\n(Did you mean ${meant}?)`}`,
    );
  });
}
