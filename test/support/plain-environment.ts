import process from 'node:process';

// Prefixes of the service's own settings, variables of npm and the test runner, and variables that decide whether Node.js
// uses colors. A build machine sets CI, which disables the colors of a terminal.
const ownVariables = /^(SVC|MARKETPLACE)_/;
const testRunnerVariables = /^(npm_|NODE_TEST_|NODE_OPTIONS$)/i;
const colorVariables =
  /^(CI|TF_BUILD|TEAMCITY_VERSION|TMUX|TERM_PROGRAM|COLORTERM|NO_COLOR|FORCE_COLOR|CLICOLOR|CLICOLOR_FORCE|NODE_DISABLE_COLORS)$/;

/** Returns the environment for a program under test, without variables that make its behavior depend on the machine. */
export function plainEnvironment(): NodeJS.ProcessEnv {
  const kept = Object.entries(process.env).filter(
    ([name]) => !(ownVariables.test(name) || testRunnerVariables.test(name) || colorVariables.test(name)),
  );
  return { ...Object.fromEntries(kept), TERM: 'xterm' };
}
