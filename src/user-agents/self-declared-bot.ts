import crawlerUserAgents from 'crawler-user-agents';

/** The published list; its typings leave out the tags that its data carries. */
const crawlers: readonly { readonly pattern: string; readonly tags?: readonly string[] }[] = crawlerUserAgents;

const metacharacter = /[.*+?^${}()|[\]\\]/;
const escapedMetacharacter = /\\([/.()+*?[\]{}|^$-])/g;

const { words: crawlerWords, expressions: crawlerExpressions } = splitPatterns();

/** What a robot that is on no list calls itself. Cubot makes telephones. */
const genericBotWords = /crawler|spider|(?<!cu)bot(?![a-z])/i;

/**
 * True for a self-declared crawler, monitor or link preview (docs/contract.md#bots-and-prefetches). HTTP libraries are
 * not bots here, and neither is an absent user agent: a program may well click for a person.
 *
 * The published list has 1,500 patterns, nearly all of them plain words. As one regular expression they take
 * milliseconds for one user agent, as words tens of microseconds, so the few real expressions are kept apart.
 */
export function isSelfDeclaredBot(userAgent: string): boolean {
  for (const word of crawlerWords) {
    if (userAgent.includes(word)) return true;
  }
  return crawlerExpressions.test(userAgent) || genericBotWords.test(userAgent);
}

function splitPatterns(): { words: string[]; expressions: RegExp } {
  const words: string[] = [];
  const rest: string[] = [];
  for (const { pattern, tags } of crawlers) {
    if (tags?.includes('http-library')) continue;
    // Whether metacharacters remain once the escaped ones are taken out tells a word from an expression.
    if (metacharacter.test(pattern.replaceAll(escapedMetacharacter, ''))) rest.push(pattern);
    else words.push(pattern.replaceAll(escapedMetacharacter, '$1'));
  }
  return { words, expressions: new RegExp(rest.join('|')) };
}
