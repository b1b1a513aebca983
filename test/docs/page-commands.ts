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

/** What stands in a document and is not run as it stands there, and why not. */
export interface Excuse {
  /** The beginning of a line. */
  readonly line: RegExp;
  readonly why: string;
}

/** The commands without those lines that are excused, each with the lines it is continued on; and the excuses that were needed. */
export function withoutExcused(commands: string, excuses: readonly Excuse[]): { rest: string; used: Set<Excuse> } {
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
    }
    dropping = line.trimEnd().endsWith('\\');
  }
  return { rest: rest.join('\n'), used };
}
