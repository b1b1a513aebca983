/** Error message that the widget shows instead of offers. */
interface ErrorMessage {
  readonly title: string;
  readonly advice: string;
  readonly canRetry: boolean;
  /** Console message that tells the partner how to fix the integration; null if the partner cannot fix the error. */
  readonly partnerHint: string | null;
}

const cannotShow = 'Offers cannot be shown here';

/**
 * Returns the message that the widget shows for an error code.
 *
 * @param code an error code of the API, or `UNREACHABLE`
 * @param origin origin of the page that contains the widget
 */
export function errorMessageFor(code: string, origin: string): ErrorMessage {
  switch (code) {
    case 'SUB_ID_EXPIRED':
      return {
        title: 'These offers have expired',
        advice: 'Rates change, so offers are kept for a few hours only. Go back to the form to see current ones.',
        canRetry: false,
        partnerHint: 'the session has expired; create a new one for this page load.',
      };
    case 'INSUFFICIENT_INPUTS':
      return {
        title: 'A few answers are missing',
        advice: 'Complete the form to see your offers.',
        canRetry: true,
        partnerHint: 'the session lacks required pocket fields; submit them before the widget loads.',
      };
    case 'ORIGIN_NOT_ALLOWED':
      return {
        title: cannotShow,
        advice: 'This page is not set up to show them yet.',
        canRetry: false,
        partnerHint: `${origin} is not allowed to embed it; ask the operator to add it to the embedding origins of your account.`,
      };
    case 'RATE_LIMIT_EXCEEDED':
    case 'SERVICE_UNAVAILABLE':
      return {
        title: 'Many people are asking right now',
        advice: 'Your answers are safe. Please try again in a moment.',
        canRetry: true,
        partnerHint: null,
      };
    case 'INTERNAL_ERROR':
      return {
        title: 'Something went wrong',
        advice: 'It is on our side, and your answers are safe. Please try again.',
        canRetry: true,
        partnerHint: null,
      };
    case 'UNREACHABLE':
      return {
        title: 'Offers could not be loaded',
        advice: 'Check your connection, then try again. Your answers are safe.',
        canRetry: true,
        partnerHint: `${origin} cannot reach its server; check the network and the connect-src of the page's Content-Security-Policy.`,
      };
    default:
      return {
        title: cannotShow,
        advice: 'Go back to the form and start again.',
        canRetry: false,
        partnerHint:
          code === 'SUB_ID_NOT_FOUND'
            ? 'data-token was not issued for data-sub; copy both unchanged from one API response.'
            : `the request was refused (${code}); copy the script element unchanged from the API response.`,
      };
  }
}
