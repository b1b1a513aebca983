import { bounds } from '../bounds.ts';

/**
 * What each member, parameter and header of a request may hold, as the end of a sentence that begins with its name. The message of
 * INVALID_REQUEST is made of both, so a rule names every allowed value and holds nothing of the request.
 */
export const requestRules = {
  body: 'must be valid JSON in UTF-8, and an object with the members that the API reference lists',
  'Idempotency-Key': `must be 1 to ${bounds.idempotencyKeyCharactersMax} visible ASCII characters`,
  'Content-Length': 'must be given at most once, as a decimal number of bytes',
  'Transfer-Encoding':
    'must be chunked alone, in one header, without Content-Length and Trailer; send a GET or HEAD request without it',
  Host: 'must be given exactly once',
  'request-target': 'must be a path that starts with a slash, or an http or https URL without a user name',

  // Sessions and pocket fields
  user_agent: `must be a string of at most ${bounds.userAgentCharactersMax} characters`,
  metadata: `must be an object of at most ${bounds.metadataKeysMax} members whose names and values have at most ${bounds.metadataCharactersMax} characters each; a value is a string, number, boolean or null`,
  sub_id: 'is required, and must be the sub_id that the session operation returned',
  fields: `is required, and must be an object of at most ${bounds.fieldsMax} members with names of at most ${bounds.fieldNameCharactersMax} characters`,

  // Offers
  format: 'is required, and must be json, iframe or js',
  max_offers: `must be an integer from 1 to ${bounds.offersShownMax}`,
  sort: 'must be recommended, lowest_apr, highest_amount or svc_revenue',
  explain: 'must be true or false; true needs a test key and format=json',

  // Analytics
  referrer_tag: 'or sub_id_list is required: name an experiment, sessions, or both',
  sub_id_list: `must be at most ${bounds.subIdListMax} ids, separated by commas`,
  date_from: 'must be a calendar date YYYY-MM-DD that is not after date_to',
  date_to: 'must be a calendar date YYYY-MM-DD',
  granularity: 'must be summary, daily or row',
  limit: `must be an integer from 1 to ${bounds.analyticsPageItemsMax}, and needs granularity=daily or granularity=row`,
  cursor:
    'must be the unaltered next_cursor of the page before, sent with the same filters, dates and granularity (daily or row)',

  // Widgets
  load: 'must be the id of a widget load: 16 lower-case hexadecimal digits',
  events: `must be an array of 1 to ${bounds.widgetEventsPerBatchMax} events of the documented types`,

  // Operations listener
  account: `must be the name of an account: 1 to ${bounds.accountNameCharactersMax} printable characters without spaces at either end. Only creating a key adds an account`,
  vertical: 'must be the path segment of a vertical of this service, such as personal-loans',
  mode: 'must be live or test',
  expires: 'must be a future date YYYY-MM-DD, an ISO 8601 timestamp with its offset, or null',
  requests_per_minute: `must be an integer from 1 to ${bounds.limitPerMinuteMax}, or null for the default`,
  analytics_per_minute: `must be an integer from 1 to ${bounds.limitPerMinuteMax}, or null for the default`,
  sessions_per_day: `must be an integer from 1 to ${bounds.limitPerDayMax}, or null for the default`,
  origin: 'must be one web origin, such as https://www.example.com',
  origins: `must be an array of web origins such as https://www.example.com; an account may have ${bounds.embedOriginsPerAccountMax}`,
} as const satisfies Record<string, string>;

/** The name of something that INVALID_REQUEST may be about. */
export type RequestParam = keyof typeof requestRules;

/** Why a parameter that is there twice, or cannot be decoded, is refused; it is about any of them. */
export const queryEncodingRule = 'must be given only once, as valid percent-encoded UTF-8';
