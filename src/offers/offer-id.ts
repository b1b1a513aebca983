import { bounds } from '../bounds.ts';

/** What an offer's id may be, as the text of a regular expression: it travels in addresses and ids without being escaped. */
export const offerIdPattern = `^[a-z0-9_-]{1,${bounds.offerIdCharactersMax}}$`;
