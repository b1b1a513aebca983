import { Argument, Command } from 'commander';
import { oneOf } from './choice-option.ts';
import { completionScript, type Shell, shells } from './completion-script.ts';
import { guided } from './guide.ts';
import { printPart } from './output.ts';

export function completionCommand(): Command {
  const command = new Command('completion')
    .summary('print a script that has a shell complete commands')
    .description(
      'Prints a script that has a shell complete commands, options and values of few choices. It knows the commands of this version: print it anew after an upgrade.',
    )
    .addArgument(new Argument('<shell>', 'for which').choices(shells).argParser(oneOf(shells)))
    .option('--json', 'print one JSON object')
    .action(async (shell: Shell, { json }: { readonly json?: true }, self: Command) => {
      const script = completionScript(self.parent!, shell);
      await printPart(json ? JSON.stringify({ shell, script }, null, 2) : script.trimEnd());
    });
  return guided(command, {
    examples: [
      'source <(marketplace completion bash)',
      'marketplace completion zsh >> ~/.zshrc',
      'marketplace completion fish > ~/.config/fish/completions/marketplace.fish',
    ],
    exits: { 1: null },
    json: { prints: 'one object', members: { shell: 'as given', script: 'the script' } },
  });
}
