/** What is said when there are no offers to show. */
interface ErrorMessage {
  readonly title: string;
  readonly advice: string;
  /** Whether trying again may help. */
  readonly canRetry: boolean;
  /** What the partner must do, for the console; null where there is nothing to do. */
  readonly partnerHint: string | null;
}

const cannotShow = 'Offers cannot be shown here';

/** `code` is one of the error table's or `UNREACHABLE`; `origin` is the page's own. */
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
        partnerHint: `${origin} may not embed it; have this origin added to the embedding origins of your account.`,
      };
    case 'SUB_ID_NOT_FOUND':
      return {
        title: cannotShow,
        advice: 'Go back to the form and start again.',
        canRetry: false,
        partnerHint: 'data-sub and data-token do not belong together; use both exactly as one answer gave them.',
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
        partnerHint: `its server did not answer ${origin}; the page's own policy (connect-src) or the network may be in the way.`,
      };
    default:
      return {
        title: cannotShow,
        advice: 'Go back to the form and start again.',
        canRetry: false,
        partnerHint: `the request was refused (${code}); use the script element exactly as the API gave it.`,
      };
  }
}
