/** Requests that a point is made of at the very least: a closed loop of a moment may have found next to nothing. */
const requestsMin = 20;

/** Requests a second at this share of saturation, for a load of this length: a whole number. */
export function rateOf(share: number, saturation: number, seconds: number): number {
  return Math.max(Math.ceil(requestsMin / seconds), Math.round(share * saturation));
}
