/**
 * The port behind which it is known which web pages may show an account's widgets. It is asked while a request is judged, so
 * the answer comes from memory; keeping that memory fresh is the adapter's business.
 */
export interface EmbedOrigins {
  /**
   * The origins allowed to an account (see `validateWebOrigin`), each once, in a fixed order; empty when there are none or the
   * number is nobody's. It stays the same array until the account's list changes, so that what was made of it can be kept beside it.
   */
  forAccount(account: number): readonly string[];
}
