import assert from 'node:assert/strict';
import { type Copy, DockerfileParser, type Env, type From } from 'dockerfile-ast';

export interface Step {
  readonly keyword: string;
  /** What follows it and its flags, with variables as they are written. */
  readonly content: string;
  /** The stage that a COPY takes from, or null: from what was sent to the builder. */
  readonly from: string | null;
}

export interface Stage {
  readonly name: string | null;
  /** The image it starts from, with the default of an argument put in. */
  readonly from: string;
  readonly steps: readonly Step[];
  readonly env: Readonly<Record<string, string>>;
}

export interface Image {
  /** What the first stage starts from. */
  readonly base: string;
  readonly stages: readonly Stage[];
}

/** A Dockerfile as stages of steps; the last stage is the image. */
export function readImage(text: string): Image {
  const dockerfile = DockerfileParser.parse(text);
  const args = new Map(
    dockerfile.getInitialARGs().map((arg) => {
      const [name, value] = arg.getArgumentsContent()!.split('=');
      return [name!, value!];
    }),
  );
  const stages: (Stage & { readonly steps: Step[]; readonly env: Record<string, string> })[] = [];
  for (const instruction of dockerfile.getInstructions()) {
    const keyword = instruction.getKeyword();
    if (keyword === 'FROM') {
      const from = (instruction as From).getImage()!.replace(/^\$\{(\w+)\}$/, (_, name: string) => args.get(name)!);
      stages.push({ name: (instruction as From).getBuildStage(), from, steps: [], env: {} });
      continue;
    }
    const stage = stages.at(-1);
    if (stage === undefined) continue;
    const from = keyword === 'COPY' ? ((instruction as Copy).getFromFlag()?.getValue() ?? null) : null;
    stage.steps.push({ keyword, content: instruction.getArgumentsContent()!, from });
    if (keyword === 'ENV') {
      for (const property of (instruction as Env).getProperties()) {
        stage.env[property.getName()] = property.getUnescapedValue()!;
      }
    }
  }
  assert.ok(stages[0] !== undefined);
  return { base: stages[0].from, stages };
}
