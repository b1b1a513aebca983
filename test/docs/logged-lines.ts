/** A call in the source that writes a line of the log. */
export interface LoggedLine {
  /** Null where it is chosen while the program runs. */
  readonly level: string | null;
  /** As it is written in the source, quotes included: a text, a template, or what holds it. */
  readonly message: string;
  /** The members that are named there. */
  readonly members: readonly string[];
}

/** Any object's method of a level's name: `console` is not the log, and `error` of a commander command ends it with a text. */
const call = /(?<!\b(?:console|command))\.(trace|debug|info|warn|error|fatal)\(|\blogger\[\w+\]\(/g;

/** Every line of the log that a file writes. A call ends with its message; what comes before it are the members. */
export function loggedLines(source: string): LoggedLine[] {
  return [...source.matchAll(call)].map(({ 0: { length }, 1: level = null, index }) => {
    const parts = partsOf(source, index + length);
    const message = parts.pop() ?? '';
    const [object = ''] = parts;
    const members = object.startsWith('{') ? partsOf(object, 1).map((part) => /^\w*/.exec(part)![0]) : [];
    return { level, message, members: members.filter((name) => name !== '') };
  });
}

/** What stands between commas from there to the bracket that closes it. */
function partsOf(source: string, from: number): string[] {
  const parts: string[] = [];
  let depth = 0;
  let start = from;
  for (let at = from; at < source.length; at++) {
    const character = source[at]!;
    if (`'"\``.includes(character)) at = source.indexOf(character, at + 1);
    else if ('([{'.includes(character)) depth++;
    else if (depth > 0 && ')]}'.includes(character)) depth--;
    else if (depth === 0 && ',)]}'.includes(character)) {
      parts.push(source.slice(start, at).trim());
      start = at + 1;
      if (character !== ',') break;
    }
  }
  return parts.filter((part) => part !== '');
}
