import { readFileSync } from 'node:fs';

/** What a baseline answers to one kind of request: an answer the service has really given. */
export interface BaselineResponse {
  readonly method: 'GET' | 'POST';
  readonly path: string;
  /** Tells apart what one path is asked in several ways: this stands in the query string. Absent: any query. */
  readonly query?: string;
  readonly status: number;
  /** All of them. Each baseline leaves out those that its engine writes by itself. */
  readonly headers: readonly (readonly [name: string, value: string])[];
  readonly body: string;
}

/**
 * The answers a baseline was started with: a JSON file, its only argument.
 *
 * @param engineHeaders lower-case names of the headers that the engine writes by itself
 */
export function readResponses(engineHeaders: readonly string[]): readonly BaselineResponse[] {
  const answers = JSON.parse(readFileSync(process.argv[2]!, 'utf8')) as BaselineResponse[];
  return answers.map((answer) => ({
    ...answer,
    headers: answer.headers.filter(([name]) => !engineHeaders.includes(name.toLowerCase())),
  }));
}

/** A route of a baseline, and which of its answers a query string gets. */
interface BaselineRoute {
  readonly method: BaselineResponse['method'];
  readonly path: string;
  responseFor(query: string): BaselineResponse;
}

export function groupByRoute(answers: readonly BaselineResponse[]): BaselineRoute[] {
  const routes = new Map<string, BaselineResponse[]>();
  for (const answer of answers) {
    const name = `${answer.method} ${answer.path}`;
    routes.set(name, [...(routes.get(name) ?? []), answer]);
  }
  return [...routes.values()].map((ways) => {
    const [first] = ways as [BaselineResponse, ...BaselineResponse[]];
    const told = ways.filter(({ query }) => query !== undefined);
    const responseFor =
      told.length === 0 ? () => first : (query: string) => told.find((way) => query.includes(way.query!)) ?? first;
    return { method: first.method, path: first.path, responseFor };
  });
}

/** Says which port a baseline listens on, and ends the process when it is told to. */
export function announcePort(port: number): void {
  process.once('SIGTERM', () => process.exit(0));
  process.stdout.write(`${port}\n`);
}
