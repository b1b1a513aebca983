import { keepUnitsTogether } from '../../common/format.ts';
import type { Word } from '../experiment-words.ts';

export function StateWord({ word: { text, kind } }: { readonly word: Word }) {
  return <span class={`word ${kind}`}>{text}</span>;
}

interface NamedArm {
  readonly label: string | null;
  readonly referrer_tag: string;
}

/** Name of an arm: its label, or its tag. */
export function armName({ label, referrer_tag }: NamedArm): string {
  return label ?? referrer_tag;
}

/** Returns the names of arms by their tags. */
export function armNames(arms: readonly NamedArm[]): (tag: string) => string {
  const names = new Map(arms.map((arm) => [arm.referrer_tag, armName(arm)]));
  return (tag) => names.get(tag) ?? tag;
}

/** Sentence of the API. Labels are isolated, so that a label that is written from right to left does not reorder the text beside it. */
export function Sentence({ text, arms }: { readonly text: string; readonly arms: readonly NamedArm[] }) {
  const labels = arms.flatMap(({ label }) => (label ? [label] : []));
  labels.sort((one, other) => other.length - one.length);
  const parts = splitAtLabels(text, labels);
  return <>{parts.map((part) => (labels.includes(part) ? <bdi>{part}</bdi> : keepUnitsTogether(part)))}</>;
}

/** Splits a text before and after each label. The longest labels come first, because a label can contain another one. */
function splitAtLabels(text: string, [label, ...shorter]: readonly string[]): string[] {
  if (label === undefined) return [text];
  const others = text.split(label).map((part) => splitAtLabels(part, shorter));
  return others.flatMap((parts, index) => (index === 0 ? parts : [label, ...parts]));
}
