/** The commands of a document: what its fenced `sh` blocks hold, without the indentation of a list they may stand in. */
export function commandsOf(markdown: string): string {
  const blocks = [...markdown.matchAll(/^([ \t]*)```sh\n((?:.*\n)*?)\1```$/gm)];
  return blocks
    .map(([, indent = '', text = '']) =>
      text
        .split('\n')
        .map((line) => (line.startsWith(indent) ? line.slice(indent.length) : line))
        .join('\n'),
    )
    .join('\n');
}

/** What the fenced blocks of a document say they are written in; empty where one does not say. */
export function languagesOf(markdown: string): string[] {
  return [...markdown.matchAll(/^[ \t]*(```+)(.*)\n(?:.*\n)*?[ \t]*\1[ \t]*$/gm)].map(([, , language = '']) =>
    language.trim(),
  );
}

/** What stands in a document and is not run as it stands there, and why not. */
export interface Excuse {
  /** The beginning of a line. */
  readonly line: RegExp;
  readonly why: string;
}

interface WithoutExcused {
  readonly rest: string;
  /** The first lines of what was excused, without their comments. */
  readonly excused: readonly string[];
  /** The excuses that were needed. */
  readonly used: ReadonlySet<Excuse>;
}

/** The commands without those lines that are excused, each with the lines it is continued on. */
export function withoutExcused(commands: string, excuses: readonly Excuse[]): WithoutExcused {
  const excused: string[] = [];
  const used = new Set<Excuse>();
  const rest: string[] = [];
  let dropping = false;
  for (const line of commands.split('\n')) {
    if (!dropping) {
      const excuse = excuses.find(({ line: begins }) => begins.test(line));
      if (excuse === undefined) {
        rest.push(line);
        continue;
      }
      used.add(excuse);
      excused.push(line.replace(/ +#.*/, ''));
    }
    dropping = line.trimEnd().endsWith('\\');
  }
  return { rest: rest.join('\n'), excused, used };
}
