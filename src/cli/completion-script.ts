import type { Command, Option } from 'commander';

export const shells = ['bash', 'zsh', 'fish'] as const;
export type Shell = (typeof shells)[number];

/** What may stand behind the words that lead to a command. */
interface Place {
  /** The names of the commands above it and its own, without that of the program. */
  readonly path: string;
  /** Of commands below it, or what its argument may be. */
  readonly words: readonly Word[];
  readonly options: readonly Option[];
  /** Whether one of the words is all that may stand there; else it is the name of a file, or whatever else. */
  readonly closed: boolean;
}

interface Word {
  readonly text: string;
  readonly summary: string;
}

/** A script that has a shell complete commands, options and values of few choices. It is made of the commands as they are now. */
export function completionScript(root: Command, shell: Shell): string {
  const places = placesBelow(root, '');
  switch (shell) {
    case 'bash':
      return bash(root.name(), places);
    case 'zsh':
      // Its emulation of bash's completion is all that is needed.
      return `autoload -U +X compinit bashcompinit && compinit && bashcompinit\n${bash(root.name(), places)}`;
    case 'fish':
      return fish(root.name(), places);
  }
}

function placesBelow(command: Command, path: string): Place[] {
  const options = command.createHelp().visibleOptions(command);
  if (command.commands.length === 0) {
    const choices = command.registeredArguments[0]?.argChoices ?? [];
    const words = choices.map((text) => ({ text, summary: '' }));
    const chosen = choices.map((text) => ({ path: behind(path, text), words: [], options, closed: true }));
    return [{ path, words, options, closed: choices.length > 0 }, ...chosen];
  }
  const below = command.commands.flatMap((each) => placesBelow(each, behind(path, each.name())));
  const words = namesOf(command.createHelp().visibleCommands(command));
  return [{ path, words, options, closed: true }, ...below, ...helpPlaces(command, behind(path, 'help'))];
}

/** Behind `help` stand the names of commands, and nothing else. */
function helpPlaces(command: Command, path: string): Place[] {
  const below = command.commands.flatMap((each) => helpPlaces(each, behind(path, each.name())));
  return [{ path, words: namesOf(command.commands), options: [], closed: true }, ...below];
}

function namesOf(commands: readonly Command[]): Word[] {
  return commands.map((each) => ({ text: each.name(), summary: each.summary() || each.description() }));
}

function behind(path: string, word: string): string {
  return path === '' ? word : `${path} ${word}`;
}

function bash(program: string, places: readonly Place[]): string {
  const options = places
    .filter((place) => place.options.length > 0)
    .map((place) => `    '${place.path}') words='${place.options.map(nameOf).join(' ')}' ;;`);
  const words = places
    .filter((place) => place.words.length > 0)
    .map((place) => `    '${place.path}') words='${place.words.map(({ text }) => text).join(' ')}' ;;`);
  const taking = places.flatMap((place) =>
    place.options.filter((option) => option.required).map((option) => ({ place, option })),
  );
  const values = taking.map(
    ({ place, option }) => `    '${place.path} ${nameOf(option)}') words='${(option.argChoices ?? []).join(' ')}' ;;`,
  );
  const paths = places.filter(({ path }) => path !== '').map(({ path }) => `'${path}'`);
  // Where nothing is known, as for the value of most options, files are offered.
  return `_${program}() {
  local current="\${COMP_WORDS[COMP_CWORD]}" previous="\${COMP_WORDS[COMP_CWORD-1]}" path='' word words=''
  for word in "\${COMP_WORDS[@]:1:$((COMP_CWORD-1))}"; do
    case "\${path:+$path }$word" in
      ${paths.join('|')}) path="\${path:+$path }$word" ;;
    esac
  done
  case "$path $previous" in
${values.join('\n')}
    *) if [[ $current == -* ]]; then case "$path" in
${options.join('\n')}
    esac; else case "$path" in
${words.join('\n')}
    esac; fi ;;
  esac
  COMPREPLY=($(compgen -W "$words" -- "$current"))
}
complete -o default -F _${program} ${program}
`;
}

function fish(program: string, places: readonly Place[]): string {
  const lines = places.flatMap(({ path, words, options, closed }) => {
    // Where a word may be anything, arguments and values of options stand behind the words that lead there.
    const here = quoted(`__${program}_${closed ? 'at' : 'in'} ${quoted(path)}`);
    return [
      ...words.map(({ text, summary }) => `complete -c ${program} -f -n ${here} -a ${text} -d ${quoted(summary)}`),
      ...options.map((option) => {
        const value = option.argChoices === undefined ? ' -r' : ` -x -a ${quoted(option.argChoices.join(' '))}`;
        const name = `-l ${nameOf(option).slice(2)} -d ${quoted(option.description)}`;
        return `complete -c ${program} -n ${here} ${name}${option.required ? value : ''}`;
      }),
    ];
  });
  return `function __${program}_words
  for word in (commandline -opc)[2..]
    string match -q -- '-*' $word; or echo $word
  end
end
function __${program}_at
  set -l words (__${program}_words)
  test "$words" = "$argv[1]"
end
function __${program}_in
  set -l words (__${program}_words)
  string match -q -- "$argv[1]*" "$words"
end
${lines.join('\n')}
`;
}

function nameOf(option: Option): string {
  return option.long ?? option.flags;
}

function quoted(text: string): string {
  return `'${text.replaceAll(/['\\]/g, '\\$&')}'`;
}
