import { readFileSync } from 'node:fs';
import type { RequestKind } from '../scenarios/scenario.ts';

/** Recorded response of the service, which a baseline server repeats. */
export interface BaselineResponse extends RequestKind {
  /** Response headers. A baseline server does not set the headers that its HTTP library writes by itself. */
  readonly headers: readonly (readonly [name: string, value: string])[];
  readonly body: string;
}

/**
 * Reads the recorded responses from a JSON file, whose path is the first argument of the process.
 * @param engineHeaders lower-case names of the headers that the HTTP library writes
 */
export function readResponses(engineHeaders: readonly string[]): readonly BaselineResponse[] {
  const answers = JSON.parse(readFileSync(process.argv[2]!, 'utf8')) as BaselineResponse[];
  return answers.map((answer) => ({
    ...answer,
    headers: answer.headers.filter(([name]) => !engineHeaders.includes(name.toLowerCase())),
  }));
}

/** Route of a baseline server. `responseFor` selects the recorded response by query string. */
interface BaselineRoute {
  readonly method: BaselineResponse['method'];
  readonly path: string;
  responseFor(query: string): BaselineResponse;
}

export function groupResponsesByRoute(answers: readonly BaselineResponse[]): BaselineRoute[] {
  const routes = new Map<string, BaselineResponse[]>();
  for (const answer of answers) {
    const name = `${answer.method} ${answer.path}`;
    routes.set(name, [...(routes.get(name) ?? []), answer]);
  }
  return [...routes.values()].map((ways) => {
    const [first] = ways as [BaselineResponse, ...BaselineResponse[]];
    const withQuery = ways.filter(({ query }) => query !== undefined);
    const responseFor =
      withQuery.length === 0
        ? () => first
        : (query: string) => withQuery.find((way) => query.includes(way.query!)) ?? first;
    return { method: first.method, path: first.path, responseFor };
  });
}

/** Prints the port for the parent process, and exits on SIGTERM. */
export function announcePort(port: number): void {
  process.once('SIGTERM', () => process.exit(0));
  process.stdout.write(`${port}\n`);
}
