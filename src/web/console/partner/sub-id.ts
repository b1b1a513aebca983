/** Whether a text has the form of a session id. */
export function isSubId(text: string): boolean {
  return /^sub_[0-9a-f]{64}$/.test(text);
}

/** Returns the end of a session id, by which a reader can tell sessions apart. */
export function shortenSubId(subId: string): string {
  return isSubId(subId) ? `…${subId.slice(-8)}` : subId;
}
