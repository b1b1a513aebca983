/**
 * Writes docs/command-line.md from the commands themselves: `node bin/write-command-line-docs.ts [FILE]`. A test sees to it that the
 * page and the commands agree.
 */
import { writeFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import type { Command } from 'commander';
import { exitCodesOf, helpOf } from '../src/cli/command-help.ts';
import { exitCodes, exitMeanings } from '../src/cli/command-line-error.ts';
import { commandPath, createProgram, isRequiredOption, withSubcommands } from '../src/cli/program.ts';

const docsFile = fileURLToPath(new URL('../docs/command-line.md', import.meta.url));
const root = createProgram('');

const introduction = `# Command line

\`marketplace\` runs the service and looks after what it keeps. In a checkout it is \`bin/marketplace\`. \`marketplace help COMMAND\`, or
\`--help\` behind any command, tells what stands here of it; this page is written from the commands by \`bin/write-command-line-docs.ts\`.

## What all commands do alike

- **Output.** What was asked for goes to standard output; warnings, advice, progress and errors go to standard error, so that neither
  gets into a pipe. A reader who stops reading (\`| head\`) is no failure; a disk that is full is.
- **\`--json\`** prints the result for programs, as told with each command. Members may be added to it; those there are keep their
  names and meanings. Money is in USD, times are ISO 8601 in UTC, days are UTC days.
- **Errors.** A command that fails says why in a line that begins with \`marketplace:\`; where the command line is wrong, another one
  says how to get the help. With \`--json\` there is one line, an object, \`{"error":{"exit_code":1,"message":"..."}}\`, and the command
  writes nothing else to standard error; the benchmarks that \`capacity --check\` runs still tell how far they are.
- **Mistakes** in the name of a command, an option, one of a few values or a setting are told with what was probably meant.
- **Settings** are environment variables (see [README.md](../README.md#configuration)). A variable that nearly has the name of one is
  refused, since its default would be used in silence; any other that begins with \`SVC_\` or \`MARKETPLACE_\` is warned of by \`serve\`
  (unless \`SVC_LOG_LEVEL\` is above \`warn\`) and \`check-config\`, but for those by which an orchestrator tells of services, such as
  \`SVC_MARKETPLACE_SERVICE_HOST\`.
- **Progress** of work that takes more than a second is shown as a bar where standard error is a terminal; elsewhere, and with
  \`--json\`, not at all.
- **Colours** are used on a terminal only. \`NO_COLOR=1\` turns them off, \`FORCE_COLOR=1\` on.
- **Ctrl-C** or SIGTERM ends long work in good order: no bar and no half-written file stays behind. A second Ctrl-C ends it at once.

## Exit codes

${markdownTable(
  ['Code', 'Meaning'],
  Object.values(exitCodes).map((code) => [`${code}`, exitMeanings[code]]),
)}
`;

const commands = withSubcommands(root).filter((command) => command.commands.length === 0);
const commandTable = markdownTable(
  ['Command', 'What it is for'],
  commands.map((command) => [
    `[\`${commandPath(command)}\`](#${headingAnchor(commandPath(command))})`,
    command.summary(),
  ]),
);
const sections = commands.map(commandSection).join('\n');
await writeFile(process.argv[2] ?? docsFile, `${introduction}\n## Commands\n\n${commandTable}\n\n${sections}`);

function commandSection(command: Command): string {
  const { examples, json } = helpOf(command);
  const help = command.createHelp();
  const given = [
    ...command.registeredArguments.map((argument) => [`\`<${argument.name()}>\``, help.argumentDescription(argument)]),
    ...command.options.map((option) => [
      `\`${option.flags}\``,
      `${isRequiredOption(option) ? 'required; ' : ''}${help.optionDescription(option)}`,
    ]),
  ];
  const parts = [
    `## ${commandPath(command)}`,
    command.description(),
    codeBlock([help.commandUsage(command)], 'text'),
    ...(given.length === 0 ? [] : [markdownTable(['Argument or option', 'Meaning'], given)]),
    codeBlock(examples),
  ];
  if (json !== undefined) {
    parts.push(`With \`--json\` it prints ${json.output}${Object.keys(json.members).length === 0 ? '.' : ':'}`);
    const members = Object.entries(json.members).map(([name, what]) => [`\`${name}\``, what]);
    if (members.length > 0) parts.push(markdownTable(['Member', 'What it is'], members));
  }
  parts.push(
    markdownTable(
      ['Exit code', 'Meaning'],
      exitCodesOf(command).map(([code, meaning]) => [`${code}`, meaning]),
    ),
  );
  return `${parts.join('\n\n')}\n`;
}

function codeBlock(lines: readonly string[], language = 'sh'): string {
  return `\`\`\`${language}\n${lines.join('\n')}\n\`\`\``;
}

function markdownTable(headings: readonly string[], rows: readonly (readonly string[])[]): string {
  const line = (cells: readonly string[]) => `| ${cells.map((cell) => cell.replaceAll('|', '\\|')).join(' | ')} |`;
  return [line(headings), `|${'---|'.repeat(headings.length)}`, ...rows.map(line)].join('\n');
}

/** As GitHub links to a heading. */
function headingAnchor(heading: string): string {
  return heading.toLowerCase().replaceAll(' ', '-');
}
