/** Call in the source that writes a log line. */
export interface LoggedLine {
  /** Null if it is computed at run time. */
  readonly level: string | null;
  /** Source text of the message: a string with its quotes, a template, or a variable. */
  readonly message: string;
  /** Names of the members in the call. */
  readonly members: readonly string[];
}

/** Call of a method with the name of a level, except on `console` and on commander commands. */
const call = /(?<!\b(?:console|command))\.(trace|debug|info|warn|error|fatal)\(|\blogger\[\w+\]\(/g;

/** Returns all log calls of a file. The last argument is the message, the first one the members. */
export function loggedLines(source: string): LoggedLine[] {
  return [...source.matchAll(call)].map(({ 0: { length }, 1: level = null, index }) => {
    const parts = partsOf(source, index + length);
    const message = parts.pop() ?? '';
    const [object = ''] = parts;
    const members = object.startsWith('{') ? partsOf(object, 1).map((part) => /^\w*/.exec(part)![0]) : [];
    return { level, message, members: members.filter((name) => name !== '') };
  });
}

/** Splits the text from an opening bracket to its closing bracket at commas. */
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
