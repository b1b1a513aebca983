/** Prints the error rates of several rules that recognize bots (docs/contributing/decisions/user-agents.md). */
import { formatErrorRates } from './error-rates.ts';

console.log(formatErrorRates());
