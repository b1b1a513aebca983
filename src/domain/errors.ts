import { bounds } from '../bounds.ts';

/**
 * Rules for the values of JSON members, query parameters and headers in requests. In the message of an INVALID_REQUEST error, the rule
 * follows the name, such as `mode must be live or test`. A rule describes every valid value and never quotes the request.
 */
export const paramErrorTexts = {
  body: 'must be valid JSON in UTF-8, and an object with the members that the API reference lists',
  'Idempotency-Key': `must be 1 to ${bounds.idempotencyKeyCharactersMax} visible ASCII characters`,
  Accept: `must prefer JSON to text/csv for this query, or the query must be shorter: the link to the next page would exceed ${bounds.linkHeaderCharactersMax} characters`,
  'Content-Length': 'must be given at most once, as a decimal number of bytes',
  'Transfer-Encoding':
    'must be chunked alone, in one header, without Content-Length and Trailer; send a GET or HEAD request without it',
  Host: 'must be given exactly once',
  'request-target': 'must be a path that starts with a slash, or an http or https URL without a user name',

  // Sessions and pocket fields
  user_agent: `must be a string of at most ${bounds.userAgentCharactersMax} characters`,
  metadata: `must be an object of at most ${bounds.metadataKeysMax} members whose names and values have at most ${bounds.metadataCharactersMax} characters each; a value is a string, boolean, null, or a number that is not an integer outside ±(2^53 - 1)`,
  unit_id: `must be 1 to ${bounds.unitIdCharactersMax} visible ASCII characters`,
  sub_id: 'is required, and must be the sub_id that the session operation returned',
  fields: `is required, and must be an object of at most ${bounds.fieldsMax} members with names of at most ${bounds.fieldNameCharactersMax} characters`,

  // Offers
  format: 'is required, and must be json, iframe or js',
  max_offers: `must be an integer from 1 to ${bounds.offersShownMax}`,
  sort: 'must be recommended, lowest_apr, highest_amount or svc_revenue',
  explain: 'must be true or false; true needs a test key and format=json',

  // Analytics
  referrer_tag:
    'or sub_id_list is required: name a tag, sessions, or both (for granularity=offer, a tag without sub_id_list)',
  sub_id_list: `must be 1 to ${bounds.subIdListMax} ids, separated by commas`,
  date_from: 'must be a calendar date YYYY-MM-DD that is not after date_to',
  date_to: 'must be a calendar date YYYY-MM-DD',
  granularity: 'must be summary, daily, row or offer',
  order: 'must be oldest or newest, and needs granularity=row',
  recent_days: `must be an integer from 1 to ${bounds.recentDaysMax}`,
  limit: `must be an integer from 1 to ${bounds.analyticsPageItemsMax} (for units of an experiment, to ${bounds.experimentUnitsPageMax}), and needs granularity=daily, row or offer in an analytics query`,
  cursor:
    'must be the unaltered next_cursor of the page before, sent with the same filters, dates, order and granularity (daily, row or offer), or of the page of tags or experiments before',

  // Experiments
  name: 'must be a string of 3 to 64 lower-case letters, digits, underscores or hyphens',
  arms: `must be an array of ${bounds.experimentArmsMin} to ${bounds.experimentArmsMax} arms, which are objects with a referrer_tag of their own and a weight`,
  weight: `must be a number of at least ${bounds.armWeightMin} in each arm, and the weights of all arms must add up to 1`,
  label: `must be a string of at most ${bounds.experimentLabelCharactersMax} visible characters on one line, or null`,
  control: 'is required, and must be the referrer_tag of one of the arms',
  unit: 'is required, and must be session or visitor',
  assignment: 'must be own or hash; hash needs unit visitor',
  starts_on: `is required, and must be a calendar date YYYY-MM-DD, at most ${bounds.experimentDaysMax} days before or after the creation of the experiment`,
  ends_on: `must be a calendar date YYYY-MM-DD, from ${bounds.matureDaysMin - 1} to ${bounds.experimentDaysMax} days after starts_on, or null`,
  min_effect_percent: `must be a number above 0 of at most ${bounds.experimentEffectPercentMax}, or null`,
  cap_usd: `must be a number above 0 of at most ${bounds.confirmedRevenueUsdMax} with at most six decimals, or null`,
  hypothesis: `must be a string of at most ${bounds.experimentTextCharactersMax} visible characters, tabs and line breaks, or null`,
  based_on: 'must be a string of 3 to 64 lower-case letters, digits, underscores or hyphens, or null',
  expected_sessions_per_day: `must be a number above 0 of at most ${bounds.plannedSessionsPerDayMax}, or null`,
  outcome: 'is required, and must be ship, keep_control, no_decision or broken',
  arm: 'must be the referrer_tag of an arm, or null',
  note: `must be a string of at most ${bounds.experimentTextCharactersMax} visible characters, tabs and line breaks, or null`,
  dimensions: `must be an array of at most ${bounds.experimentDimensionsMax} different metadata names of 1 to ${bounds.metadataCharactersMax} characters, none of which is device or the name of a pocket field`,
  series: 'must be true or false',
  group_by: 'must be device or one of the dimensions of the experiment',

  // Widgets
  load: 'must be the id of a widget load: 16 lower-case hexadecimal digits',
  events: `must be an array of 1 to ${bounds.widgetEventsPerBatchMax} events of the documented types`,

  // Consoles
  key: 'is required, and must be an API key',
  token: 'is required, and must be the operator token',

  // Operations listener
  state: 'must be a state of an offer',
  account: `must be the name of an account: 1 to ${bounds.accountNameCharactersMax} printable characters without spaces at either end. Only creating a key adds an account`,
  vertical: 'must be the path segment of a vertical of this service, such as personal-loans',
  mode: 'must be live or test',
  scope: 'must be full or analytics',
  expires: 'must be a future date YYYY-MM-DD, an ISO 8601 timestamp with its offset, or null',
  requests_per_minute: `must be an integer from 1 to ${bounds.limitPerMinuteMax}, or null for the default`,
  analytics_per_minute: `must be an integer from 1 to ${bounds.limitPerMinuteMax}, or null for the default`,
  sessions_per_day: `must be an integer from 1 to ${bounds.limitPerDayMax}, or null for the default`,
  action: 'must be an action of the audit log, such as key.create',
  since: 'must be a calendar date YYYY-MM-DD or an ISO 8601 timestamp with its offset',
  origin: 'must be one web origin, such as https://www.example.com',
  advance_days: `is required, and must be an integer from 1 to ${bounds.testClockDaysPerRequestMax}. The clock can be at most ${bounds.testClockDaysMax} days ahead`,
  origins: `must be an array of web origins such as https://www.example.com; an account may have ${bounds.embedOriginsPerAccountMax}`,
} as const satisfies Record<string, string>;

export type RequestParamName = keyof typeof paramErrorTexts;

/** Part of an error message that describes how a query parameter must be encoded. */
export const queryEncodingAdvice = 'must be given only once, as valid percent-encoded UTF-8';

/**
 * All errors of the API (docs/contract.md#error-codes), each with a phrase for the log. An error message tells the caller what to do and
 * contains no text of the request. A new status or a new meaning of an error requires a new version of the API.
 */
export const errorTable = {
  INVALID_REFERRER_TAG: {
    status: 400,
    phrase: 'invalid referrer_tag',
    message:
      'referrer_tag must be a string of 3 to 64 lower-case letters, digits, underscores or hyphens. Correct it and send the request again.',
  },
  INVALID_FIELD_VALUE: {
    status: 400,
    phrase: 'invalid field value',
    message:
      'One or more pocket fields have an invalid value, so no field was changed. fields_invalid lists these fields and their valid values.',
  },
  SUB_ID_EXPIRED: {
    status: 400,
    phrase: 'session expired',
    message:
      'This session has expired. Create a new session. A new session with the same referrer_tag counts toward the same figures.',
  },
  INSUFFICIENT_INPUTS: {
    status: 400,
    phrase: 'required fields missing',
    message:
      'Required pocket fields are still missing. Submit those listed in missing_required to the inputs operation.',
  },
  INVALID_REQUEST: {
    status: 400,
    phrase: 'invalid request',
    message:
      'The request is invalid. param is the name of the invalid member, parameter or header; see the API reference for its valid values.',
  },
  UNAUTHORIZED: {
    status: 401,
    phrase: 'invalid credentials',
    message:
      'Send a valid API key in the header Authorization: Bearer <API_KEY>. It is missing, malformed, expired or not known.',
  },
  LOGIN_FAILED: {
    status: 401,
    phrase: 'wrong key or token at a console login',
    message:
      'This is not a valid API key or operator token: it is misspelt, has expired or was revoked. Check it, or ask the operator for a new one.',
  },
  LOGIN_REQUIRED: {
    status: 401,
    phrase: 'console login missing or ended',
    message: 'There is no login, or the login has ended. Log in to the console again.',
  },
  CROSS_SITE_REQUEST: {
    status: 403,
    phrase: 'console request of another site',
    message:
      'The console answers only its own pages. Open the address of the console in a browser. A proxy in front of the service must not change the headers Host, Origin and Sec-Fetch-Site.',
  },
  VERTICAL_MISMATCH: {
    status: 403,
    phrase: 'API key of another vertical',
    message: 'This API key belongs to another vertical. Use its own base path, or a key issued for this one.',
  },
  INSUFFICIENT_SCOPE: {
    status: 403,
    phrase: 'scope of API key does not allow operation',
    message:
      'The scope of this API key is analytics: the key can only read figures and referrer tags. Use a key with the scope full, or ask the operator for one.',
  },
  ORIGIN_NOT_ALLOWED: {
    status: 403,
    phrase: 'origin not allowed',
    message:
      'This web page may not show the offers of this account. Ask the operator to allow the origin of the page for the account, or show the offers on one that is allowed.',
  },
  TAG_LIMIT_EXCEEDED: {
    status: 403,
    phrase: 'limit of referrer tags exceeded',
    message:
      'This account has used as many different referrer_tags as it may in this vertical and mode. Use one of them again, or ask the operator for a higher limit.',
  },
  SUB_ID_NOT_FOUND: {
    status: 404,
    phrase: 'session not found',
    message:
      'Unknown sub_id. Use a sub_id that the session operation returned for a key of this account, vertical and mode.',
  },
  NOT_FOUND: {
    status: 404,
    phrase: 'unknown path',
    message: 'Unknown path, or unknown name of an experiment. Compare the path with the API reference.',
  },
  METHOD_NOT_ALLOWED: {
    status: 405,
    phrase: 'method not allowed',
    message: 'Method not allowed. The Allow header lists the allowed methods.',
  },
  PAYLOAD_TOO_LARGE: {
    status: 413,
    phrase: 'body too large',
    message:
      'The request body is too large for this operation. Send a smaller body; see the API reference for the limit.',
  },
  UNSUPPORTED_MEDIA_TYPE: {
    status: 415,
    phrase: 'unsupported media type',
    message: 'Send the body as JSON with the header Content-Type: application/json.',
  },
  MISDIRECTED_REQUEST: {
    status: 421,
    phrase: 'unknown host name',
    message:
      'The operations listener does not know the name in the Host header. Use an IP address or localhost, or ask the operator to add the name to SVC_OPS_ALLOWED_HOSTS (embedded: listen.operationsAllowedHosts).',
  },
  IDEMPOTENCY_MISMATCH: {
    status: 422,
    phrase: 'Idempotency-Key reused with another payload',
    message: 'This Idempotency-Key was used before with another payload. Use a new key for a new request.',
  },
  RATE_LIMIT_EXCEEDED: {
    status: 429,
    phrase: 'rate limit exceeded',
    message:
      'A rate limit of this API key, of this login, of the changes of experiments of this account, or of the widgets of this session is used up. Wait until the time in X-RateLimit-Reset (Unix seconds), then retry with exponential backoff.',
  },
  TOO_MANY_LOGINS: {
    status: 429,
    phrase: 'too many console logins',
    message:
      'Within a minute, there were too many logins with this key or token, or too many failed logins from this network address. Wait a minute, then log in again.',
  },
  INTERNAL_ERROR: {
    status: 500,
    phrase: 'internal error',
    message: 'The service failed to process this request. Retry later; if the error persists, report the request_id.',
  },
  SERVICE_UNAVAILABLE: {
    status: 503,
    phrase: 'service unavailable',
    message:
      'The service cannot process this request now. Retry after the number of seconds in the Retry-After header.',
  },
} as const satisfies Record<string, { status: number; phrase: string; message: string }>;

/** Message of the UNAUTHORIZED error in responses of the operations listener. */
export const operatorTokenRequiredMessage =
  "Send the operator's token, which is no API key, in the header Authorization: Bearer <TOKEN>. It is in the file operator-token of the service's data folder; what was sent is missing, malformed or another one.";

/** Message of the SERVICE_UNAVAILABLE error for a change of an operator that cannot be recorded. */
export const auditLogUnavailableMessage =
  'The change was refused, because the audit log of the data folder cannot be written. The log of the service has the reason, such as a full disk. Retry after the number of seconds in the Retry-After header.';

/** Message of the SERVICE_UNAVAILABLE error for two versions of a catalog that cannot be compared. */
export const catalogArchiveUnavailableMessage =
  'The versions cannot be compared, because the archive of the data folder cannot be read. The log of the service has the reason, such as a damaged file. Retry after the number of seconds in the Retry-After header, or after the next change of the catalog.';

/** Message of the SERVICE_UNAVAILABLE error for two versions of a catalog whose comparison takes longer than a request. */
export const catalogComparisonRunningMessage =
  'The versions are still being compared, which takes a few seconds for large catalogs. Retry after the number of seconds in the Retry-After header.';

export type ErrorCode = keyof typeof errorTable;
