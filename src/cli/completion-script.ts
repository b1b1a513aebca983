import type { Command, Option } from 'commander';

export const shells = ['bash', 'zsh', 'fish'] as const;
export type Shell = (typeof shells)[number];

/** What may stand behind the words that lead to a command. */
interface Place {
  /** The names of the commands above it and its own, without that of the program. */
  readonly path: string;
  readonly commands: readonly Command[];
  readonly options: readonly Option[];
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
  const { commands } = command;
  const options = command.createHelp().visibleOptions(command);
  const below = commands.flatMap((each) => placesBelow(each, path === '' ? each.name() : `${path} ${each.name()}`));
  return [{ path, commands, options: [...options] }, ...below];
}

function bash(program: string, places: readonly Place[]): string {
  const options = places.map((place) => `    '${place.path}') words='${place.options.map(nameOf).join(' ')}' ;;`);
  const commands = places
    .filter((place) => place.commands.length > 0)
    .map((place) => `    '${place.path}') words='${place.commands.map((each) => each.name()).join(' ')}' ;;`);
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
${commands.join('\n')}
    esac; fi ;;
  esac
  COMPREPLY=($(compgen -W "$words" -- "$current"))
}
complete -o default -F _${program} ${program}
`;
}

function fish(program: string, places: readonly Place[]): string {
  const lines = places.flatMap(({ path, commands, options }) => {
    // A command without others below it may have arguments behind it.
    const here = quoted(`__${program}_${commands.length > 0 ? 'at' : 'in'} ${quoted(path)}`);
    return [
      ...commands.map((each) => `complete -c ${program} -f -n ${here} -a ${each.name()} -d ${quoted(each.summary())}`),
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
