/** Requests that a point is made of at the very least: a closed loop of a moment may have found next to nothing. */
const pointRequestsMin = 20;

/** Requests a second at this share of saturation, for a load of this length: a whole number. */
export function rateAtShare(share: number, saturation: number, seconds: number): number {
  return Math.max(Math.ceil(pointRequestsMin / seconds), Math.round(share * saturation));
}
