import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import crawlerUserAgents from 'crawler-user-agents';
import { parse } from 'yaml';

/** User agents with weights. The weights of a corpus without measured shares are 1. */
export type Corpus = ReadonlyMap<string, number>;

const { resolve } = createRequire(import.meta.url);

/** Browsers with their measured share of page views, from the package `user-agents`. */
export function readMeasuredBrowsers(): readonly { userAgent: string; weight: number; deviceCategory: string }[] {
  return JSON.parse(readFileSync(new URL('user-agents.json', `file://${resolve('user-agents')}`), 'utf8'));
}

/** Reads a file of this folder with one user agent a line. Lines with `#` are comments. */
export function readOwnUserAgents(name: 'people.txt' | 'machines.txt'): readonly string[] {
  const lines = readFileSync(new URL(name, import.meta.url), 'utf8').split('\n');
  return lines.filter((line) => line !== '' && !line.startsWith('#'));
}

interface ListedCrawler {
  readonly pattern: string;
  readonly instances: readonly string[];
  readonly tags?: readonly string[];
}

/** Returns the entries of the package `crawler-user-agents` for HTTP libraries or for all other bots. */
export function readListedCrawlers(kind: 'http_libraries' | 'bots'): readonly ListedCrawler[] {
  return crawlerUserAgents.filter(
    ({ tags = [] }: ListedCrawler) => tags.includes('http-library') === (kind === 'http_libraries'),
  );
}

export function listedExamples(kind: 'http_libraries' | 'bots'): readonly string[] {
  return readListedCrawlers(kind).flatMap(({ instances }) => instances);
}

const woothee = {
  people: ['pc_windows', 'pc_misc', 'smartphone_android', 'smartphone_ios', 'smartphone_misc', 'appliance'],
  machines: ['crawler', 'crawler_google', 'crawler_nonmajor'],
};

/** User agents from 2011 to 2017, from the package `woothee`. */
function readOldUserAgents(kind: keyof typeof woothee): readonly string[] {
  return woothee[kind].flatMap((name) => {
    const file = new URL(`../woothee/testsets/${name}.yaml`, `file://${resolve('woothee')}`);
    return (parse(readFileSync(file, 'utf8')) as { target: string }[]).map(({ target }) => target);
  });
}

function equalWeights(userAgents: readonly string[]): Corpus {
  return new Map(userAgents.map((userAgent) => [userAgent, 1]));
}

/** Reads all corpora, by name. */
export function readCorpora(): {
  readonly people: Readonly<Record<string, Corpus>>;
  readonly machines: Readonly<Record<string, Corpus>>;
} {
  const measured = new Map<string, number>();
  for (const { userAgent, weight } of readMeasuredBrowsers()) {
    measured.set(userAgent, (measured.get(userAgent) ?? 0) + weight);
  }
  return {
    people: {
      browsers: measured,
      apps: equalWeights(readOwnUserAgents('people.txt')),
      'old browsers': equalWeights(readOldUserAgents('people')),
      'HTTP libraries': equalWeights(listedExamples('http_libraries')),
    },
    machines: {
      'own list': equalWeights(readOwnUserAgents('machines.txt')),
      'published list': equalWeights(listedExamples('bots')),
      'old crawlers': equalWeights(readOldUserAgents('machines')),
    },
  };
}
