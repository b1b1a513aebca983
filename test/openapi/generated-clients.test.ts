/**
 * Generates TypeScript clients for the OpenAPI document of every vertical with six code generators, and compiles a program that reads every
 * member: `make openapi-clients-test`. Installs the generators, about 300 MB, into test-artefacts/openapi-clients.
 */

import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { before, describe, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { resolveUrls } from '../../src/config/resolve-urls.ts';
import { type OpenApiDocument, openApiDocument } from '../../src/openapi/openapi-document.ts';
import { builtInVerticals } from '../../src/verticals/built-in-verticals.ts';

const folder = fileURLToPath(new URL('../../test-artefacts/openapi-clients', import.meta.url));
const compiler = fileURLToPath(new URL('../../node_modules/.bin/tsc', import.meta.url));

/** Packages that the generated clients import. */
const runtimePackages = ['@angular/common@22.2.6', '@angular/core@22.2.6', '@oazapfts/runtime@1.2.0', 'rxjs@7.8.2'];

interface Generator {
  readonly name: string;
  readonly version: string;
  /** Command that writes a client of a document into a folder. */
  readonly command: (document: string, target: string) => readonly string[];
  /** Module of the generated types, relative to the folder. */
  readonly module: string;
  /** Type of a component of the document. `Api` is the namespace of the module. */
  readonly typeName?: (component: string) => string;
}

const generators: readonly Generator[] = [
  {
    name: 'openapi-typescript',
    version: '7.13.0',
    command: (document, target) => ['openapi-typescript', document, '--output', `${target}/api.ts`],
    module: 'api',
    typeName: (component) => `Api.components['schemas']['${component}']`,
  },
  {
    name: 'swagger-typescript-api',
    version: '13.13.0',
    command: (document, target) => ['swagger-typescript-api', 'generate', '-p', document, '-o', target, '-n', 'api.ts'],
    module: 'api',
  },
  {
    name: '@hey-api/openapi-ts',
    version: '0.99.0',
    command: (document, target) => ['openapi-ts', '-i', document, '-o', target],
    module: 'index',
  },
  {
    name: 'orval',
    version: '8.38.0',
    command: (document, target) => ['orval', '--input', document, '--output', `${target}/api.ts`, '--client', 'fetch'],
    module: 'api',
  },
  {
    name: 'oazapfts',
    version: '7.5.0',
    command: (document, target) => ['oazapfts', document, `${target}/api.ts`],
    module: 'api',
  },
  {
    name: 'ng-openapi-gen',
    version: '1.1.0',
    command: (document, target) => ['ng-openapi-gen', '--input', document, '--output', target],
    module: 'models',
  },
];

interface Schema {
  readonly $ref?: string;
  readonly type?: string | readonly string[];
  readonly anyOf?: readonly Schema[];
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly required?: readonly string[];
  readonly additionalProperties?: Schema | boolean;
  readonly items?: Schema;
}

/** Components whose members the program reads, with all components that they contain. */
const readComponents = [
  ...['SessionRequest', 'Session', 'InputsRequest', 'Inputs', 'Marketplace', 'WidgetEmbed', 'Error'],
  ...['AnalyticsSummary', 'AnalyticsDaily', 'AnalyticsRows'],
];

const scalarTypes: Readonly<Record<string, string>> = {
  string: 'string',
  number: 'number',
  integer: 'number',
  boolean: 'boolean',
};

/** Writes the statements of a program that reads every member of a schema. */
class ProgramWriter {
  readonly statements: string[] = [];
  readonly #schemas: Readonly<Record<string, Schema>>;

  constructor(schemas: Readonly<Record<string, unknown>>) {
    this.#schemas = schemas as Readonly<Record<string, Schema>>;
  }

  readComponent(component: string, type: string): void {
    this.statements.push(`export function read${component}(value: ${type}): void {`);
    this.#read({ $ref: component }, 'value', true);
    this.statements.push('}');
  }

  /**
   * @param value expression of the value
   * @param isRequired whether the value cannot be undefined
   */
  #read(schema: Schema, value: string, isRequired: boolean): void {
    const { $ref, anyOf, type = [] } = schema;
    if ($ref !== undefined) {
      this.#read(this.#schemas[$ref.split('/').at(-1)!]!, value, isRequired);
      return;
    }
    const kinds = anyOf ?? [type].flat().map((kind) => ({ ...schema, type: kind }));
    const present = kinds.filter((kind) => kind.type !== 'null');
    if (present.length < kinds.length) this.statements.push(`  nullable(${value});`);
    if (isRequired) this.statements.push(`  defined(${value});`);
    const scalars = present.map((kind) => scalarTypes[`${kind.type}`]);
    if (!scalars.includes(undefined)) {
      const expected = present.length === 0 ? 'null' : [...new Set(scalars)].join(' | ');
      this.statements.push(`  read<${expected}>()(${present.length === 0 ? value : `${value}!`});`);
      return;
    }
    for (const kind of present) this.#readParts(kind, `${value}!`);
  }

  #readParts(schema: Schema, value: string): void {
    const { $ref, items, properties = {}, required = [], additionalProperties } = schema;
    if ($ref !== undefined) this.#read(schema, value, true);
    if (items !== undefined) this.#read(items, `${value}[0]`, true);
    for (const [name, member] of Object.entries(properties)) {
      this.#read(member, `${value}.${name}`, required.includes(name));
    }
    if (typeof additionalProperties === 'object') this.#read(additionalProperties, `${value}['name']`, false);
  }
}

/** Helpers of the program. They do not compile for the type `any`, which stands for a lost type. */
const helpers = `
type NotAny<Value> = 0 extends 1 & Value ? never : Value;
declare function read<Expected>(): <Value extends Expected>(value: NotAny<Value>) => void;
declare function nullable<Value>(value: null extends Value ? NotAny<Value> : never): void;
declare function defined<Value>(value: undefined extends Value ? never : NotAny<Value>): void;
`;

function writeProgram({ module, typeName = (component) => `Api.${component}` }: Generator, document: OpenApiDocument) {
  const writer = new ProgramWriter(document.components.schemas);
  for (const component of readComponents) writer.readComponent(component, typeName(component));
  return `import type * as Api from './${module}';\n${helpers}\n${writer.statements.join('\n')}\n`;
}

const compilerOptions = {
  noEmit: true,
  strict: true,
  skipLibCheck: true,
  target: 'ES2022',
  module: 'ESNext',
  moduleResolution: 'bundler',
  lib: ['ES2022', 'DOM', 'DOM.Iterable'],
  types: [],
};

/** Runs a program. If it fails, throws an error with its output. */
function run(program: string, args: readonly string[]): void {
  try {
    execFileSync(program, args, { cwd: folder, stdio: 'pipe', encoding: 'utf8' });
  } catch (error) {
    const { stdout, stderr } = error as { readonly stdout: string; readonly stderr: string };
    assert.fail(`${program} ${args.join(' ')}\n${`${stdout}\n${stderr}`.slice(0, 4_000)}`);
  }
}

before(() => {
  mkdirSync(folder, { recursive: true });
  writeFileSync(`${folder}/package.json`, '{"name":"openapi-clients","private":true}\n');
  const packages = [...generators.map(({ name, version }) => `${name}@${version}`), ...runtimePackages];
  const options = ['--ignore-scripts', '--no-save', '--no-package-lock', '--no-audit', '--no-fund', '--loglevel=error'];
  run('npm', ['install', ...options, ...packages]);
});

const unset = { public: null, click: null, widget: null, cdn: null };
const { urls } = resolveUrls({ listen: null, urls: unset }, 8080);

for (const vertical of builtInVerticals.verticals) {
  describe(vertical.segment, () => {
    const document = openApiDocument(builtInVerticals.withProduct(vertical), urls);
    for (const generator of generators) {
      test(`a client of ${generator.name} ${generator.version} has a type for every member`, () => {
        const target = `${folder}/${vertical.segment}/${generator.name.replace('/', '-')}`;
        rmSync(target, { recursive: true, force: true });
        mkdirSync(target, { recursive: true });
        const documentFile = `${folder}/${vertical.segment}/openapi.json`;
        writeFileSync(documentFile, JSON.stringify(document));
        const [program, ...args] = generator.command(documentFile, target) as [string, ...string[]];
        run(`${folder}/node_modules/.bin/${program}`, args);
        writeFileSync(`${target}/read-every-member.ts`, writeProgram(generator, document));
        writeFileSync(`${target}/tsconfig.json`, JSON.stringify({ compilerOptions, include: ['./**/*.ts'] }));
        run(compiler, ['-p', target]);
      });
    }
  });
}
