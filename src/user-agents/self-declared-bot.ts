import crawlerUserAgents from 'crawler-user-agents';

/** A kind of bot, with example user agents. The type definitions of `crawler-user-agents` lack `tags`. */
interface ListedCrawler {
  readonly pattern: string;
  readonly instances: readonly string[];
  readonly tags?: readonly string[];
}

/** List of the package `crawler-user-agents`, without HTTP libraries, because a program may click on behalf of a person. */
const listedBots: readonly ListedCrawler[] = crawlerUserAgents.filter(
  ({ tags = [] }: ListedCrawler) => !tags.includes('http-library'),
);

/**
 * Words that mark a bot in any user agent. Cubot (phones), iRobot, Tweetbot and Ninebot (apps of people) are excluded. The last part finds
 * `Mozilla/5.0 (compatible; Name/1.0)`, which only old browsers and bots send.
 */
const botWords =
  /crawler|spider|(?<!cu|\biro|tweet|nine)bot(?![a-z])|health[-_ ]?check|uptime|statuscake|synthetic|headless|phantomjs|[-_ ]probe\b|(?:link|url|uri|web)[-_ ]?preview|^mozilla\/5\.0\b(?!.*(?:msie|konqueror)).*\bcompatible; (?!u;)/i;

/** Contact addresses that bots add to the user agent of a browser. HTTP libraries contain such addresses too. */
const contactAddress = /\+(?:https?:|mailto:)/i;

/** Names of link previews, monitors and health checkers that are not on the list of `crawler-user-agents`. */
const fetcherNames =
  /preview|monitor|heartbeat|pinger|^GoogleHC\/|^kube-probe\/|^Envoy\/HC|^AlwaysOn$|^Load Balancer Agent$|^KeepAliveClient|^Gatus\/|^Hyperping|^Blackbox.Exporter|^Misskey\//i;

/**
 * Patterns of `crawler-user-agents` that also match browsers and apps of people: `AP3A.240617.008` is a version of Android, `MetaIAB` is
 * the browser in the Facebook app, and `Code`, `Trae` and `Fluid` are desktop programs.
 */
const patternsOfPeople: ReadonlySet<string> = new Set([
  'AP3A\\.240617\\.008',
  'MetaIAB Facebook',
  'Code\\/1\\.',
  'Trae\\/',
  'Fluid',
  'mail\\.ru',
  'NewsNow\\/',
]);

const platform =
  /^(?:Mozilla\/[45]\.0|Opera\/[\d.]+) \([^)]*(?:iPhone|iPad|iPod|Android|Windows|Macintosh|X11|Linux|CrOS|Tizen|Web0S|Nintendo|PlayStation|BlackBerry|Symbian|J2ME|MSIE)/i;
const engine = /AppleWebKit\/|Gecko|Trident|MSIE|Presto|KHTML/;

/** Whether a user agent names a platform and an engine, as browsers, browsers in apps, and automated browsers do. */
function looksLikeBrowser(userAgent: string): boolean {
  return platform.test(userAgent) && engine.test(userAgent);
}

const metacharacter = /[.*+?^${}()|[\]\\]/;
const escapedMetacharacter = /\\([/.()+*?[\]{}|^$-])/g;

/** Text patterns, divided for speed: nearly all patterns of the list are plain words. */
interface PatternSet {
  readonly words: readonly string[];
  readonly expressions: RegExp;
}

const patternsOfFetchers = compilePatterns(listedBots.map(({ pattern }) => pattern));
const patternsOfBrowsers = compilePatterns(
  listedBots
    .filter(({ pattern, instances }) => !patternsOfPeople.has(pattern) && instances.some(isUnmarkedBrowser))
    .map(({ pattern }) => pattern),
);

/** Whether a user agent looks like a browser and has no general mark of a bot, so that only its name shows that it is a bot. */
function isUnmarkedBrowser(userAgent: string): boolean {
  return looksLikeBrowser(userAgent) && !botWords.test(userAgent) && !contactAddress.test(userAgent);
}

/**
 * Whether a user agent declares itself as a crawler, monitor, health checker or link preview (docs/contract.md#requests-that-are-not-clicks).
 *
 * A name such as `WhatsApp` or `Viber` means a link preview if it is alone, and an app of a person if it is part of the user agent of a
 * browser. Therefore a pattern of the list applies to browsers only if an example of the list looks like a browser
 * (docs/contributing/decisions/user-agents.md).
 */
export function isSelfDeclaredBot(userAgent: string): boolean {
  if (botWords.test(userAgent)) return true;
  if (looksLikeBrowser(userAgent)) return contactAddress.test(userAgent) || matches(patternsOfBrowsers, userAgent);
  return fetcherNames.test(userAgent) || matches(patternsOfFetchers, userAgent);
}

function matches({ words, expressions }: PatternSet, userAgent: string): boolean {
  for (const word of words) {
    if (userAgent.includes(word)) return true;
  }
  return expressions.test(userAgent);
}

/** Divides patterns into plain words and regular expressions. One expression of all 1,500 patterns would take milliseconds. */
function compilePatterns(patterns: readonly string[]): PatternSet {
  const words: string[] = [];
  const expressions: string[] = [];
  for (const pattern of patterns) {
    // A pattern is a plain word if all its metacharacters are escaped.
    if (metacharacter.test(pattern.replaceAll(escapedMetacharacter, ''))) expressions.push(pattern);
    else words.push(pattern.replaceAll(escapedMetacharacter, '$1'));
  }
  return { words, expressions: new RegExp(expressions.join('|')) };
}
