import process from 'node:process';

// What names settings of ours, what npm and the test runner tell those they start, and whatever Node.js and the command
// line decide colours by: a build machine sets CI, and a terminal then counts as one without colours.
const ours = /^(SVC|MARKETPLACE)_/;
const runners = /^(npm_|NODE_TEST_|NODE_OPTIONS$)/i;
const colours =
  /^(CI|TF_BUILD|TEAMCITY_VERSION|TMUX|TERM_PROGRAM|COLORTERM|NO_COLOR|FORCE_COLOR|CLICOLOR|CLICOLOR_FORCE|NODE_DISABLE_COLORS)$/;

/** The environment for a program that a test starts: the machine's, without what would make the program behave otherwise here and there. */
export function plainEnvironment(): NodeJS.ProcessEnv {
  const kept = Object.entries(process.env).filter(
    ([name]) => !(ours.test(name) || runners.test(name) || colours.test(name)),
  );
  return { ...Object.fromEntries(kept), TERM: 'xterm' };
}
