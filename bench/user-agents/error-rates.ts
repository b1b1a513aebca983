import Bowser from 'bowser';
import { isbot } from 'isbot';
import { isSelfDeclaredBot } from '../../src/user-agents/self-declared-bot.ts';
import { type Corpus, readCorpora, readListedCrawlers } from './corpora.ts';

type BotRule = (userAgent: string) => boolean;

const listed = readListedCrawlers('bots').map(({ pattern }) => new RegExp(pattern));
const matchesList: BotRule = (userAgent) => listed.some((pattern) => pattern.test(userAgent));
const matchesWords: BotRule = (userAgent) => /crawler|spider|(?<!cu)bot(?![a-z])/i.test(userAgent);
const matchesBowser: BotRule = (userAgent) => Bowser.getParser(userAgent, true).getPlatformType(true) === 'bot';

const rules: Readonly<Record<string, BotRule>> = {
  Bowser: matchesBowser,
  isbot,
  'crawler-user-agents': matchesList,
  'crawler-user-agents, words': (userAgent) => matchesList(userAgent) || matchesWords(userAgent),
  'crawler-user-agents, words, Bowser (earlier rule)': (userAgent) =>
    matchesList(userAgent) || matchesWords(userAgent) || matchesBowser(userAgent),
  'isbot and (crawler-user-agents or words)': (userAgent) =>
    isbot(userAgent) && (matchesList(userAgent) || matchesWords(userAgent)),
  'rule of this service': isSelfDeclaredBot,
};

/** Weighted share of a corpus that a rule classifies wrongly. */
function errorShare(corpus: Corpus, isWrong: (userAgent: string) => boolean): number {
  let wrong = 0;
  let total = 0;
  for (const [userAgent, weight] of corpus) {
    total += weight;
    if (isWrong(userAgent)) wrong += weight;
  }
  return wrong / total;
}

/** Returns a Markdown table with the error rates of each rule, in percent of each corpus. */
export function formatErrorRates(): string {
  const { people, machines } = readCorpora();
  const heading = ['Rule', ...Object.keys(people), ...Object.keys(machines)];
  const sizes = ['user agents', ...[...Object.values(people), ...Object.values(machines)].map(({ size }) => `${size}`)];
  const rows = Object.entries(rules).map(([name, isBot]) => [
    name,
    ...Object.values(people).map((corpus) => formatPercent(errorShare(corpus, isBot))),
    ...Object.values(machines).map((corpus) => formatPercent(errorShare(corpus, (userAgent) => !isBot(userAgent)))),
  ]);
  const line = (cells: readonly string[]) => `| ${cells.join(' | ')} |`;
  return [line(heading), `|---|${'---:|'.repeat(heading.length - 1)}`, line(sizes), ...rows.map(line)].join('\n');
}

function formatPercent(share: number): string {
  return (100 * share).toFixed(1);
}
