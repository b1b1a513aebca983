import { limits } from './limits.ts';
import { parseRetryAfterMs } from './retry-after.ts';

export type WidgetEventType =
  | 'widget_loaded'
  | 'offers_rendered'
  | 'offer_impression'
  | 'offer_details_opened'
  | 'disclosure_opened'
  | 'offer_click'
  | 'widget_error';

interface WidgetEvent {
  readonly event_id: string;
  readonly type: WidgetEventType;
  readonly svc_offer_id?: string;
}

/**
 * Tells the server what happens in one load of the widget. Events wait a moment for company and go out in batches. What
 * could not be told waits and goes out again under the same ids, so that the server counts it once, whichever attempt it
 * heard. When the page is left, or put into the background, or the widget ends, everything that waits goes out as a beacon.
 */
export class EventQueue {
  readonly #address: string;
  readonly #load: string;
  readonly #endSignal: AbortSignal;
  #pendingEvents: WidgetEvent[] = [];
  #lastEventNumber = 0;
  #consecutiveFailures = 0;
  #timer: ReturnType<typeof setTimeout> | undefined;
  #sending = false;

  /** `address` takes the events by POST. */
  constructor(address: string, load: string, endSignal: AbortSignal) {
    this.#address = address;
    this.#load = load;
    this.#endSignal = endSignal;
    document.addEventListener(
      'visibilitychange',
      () => {
        if (document.visibilityState === 'hidden') this.#sendBeacons();
      },
      { signal: endSignal },
    );
    addEventListener('pagehide', () => this.#sendBeacons(), { signal: endSignal });
    endSignal.addEventListener('abort', () => this.#sendBeacons());
  }

  enqueue(type: WidgetEventType, offerId?: string): void {
    // The server knows events by their ids within the session, which may have several loads: hence the load's id in them.
    const event_id = `${this.#load}-${++this.#lastEventNumber}`;
    this.#pendingEvents.push(offerId === undefined ? { event_id, type } : { event_id, type, svc_offer_id: offerId });
    this.#dropOldest();
    this.#scheduleSend(limits.eventBatchDelayMs);
  }

  /** Sends without waiting for company: what follows may be the end of the page. */
  flush(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    this.#scheduleSend(0);
  }

  #scheduleSend(ms: number): void {
    if (this.#sending) return;
    this.#timer ??= setTimeout(() => {
      this.#timer = undefined;
      void this.#send();
    }, ms);
  }

  async #send(): Promise<void> {
    const batch = this.#pendingEvents.splice(0, limits.eventsPerBatchMax);
    if (batch.length === 0) return;
    this.#sending = true;
    const againMs = await this.#postBatch(batch);
    this.#sending = false;
    if (againMs === null) {
      this.#consecutiveFailures = 0;
      if (this.#pendingEvents.length > 0) this.#scheduleSend(0);
      return;
    }
    this.#pendingEvents.unshift(...batch);
    this.#dropOldest();
    if (document.visibilityState === 'hidden' || this.#endSignal.aborted) this.#sendBeacons();
    else if (++this.#consecutiveFailures < limits.eventFailuresMax)
      this.#scheduleSend(againMs || limits.eventRetryDelayMs * 2 ** (this.#consecutiveFailures - 1));
  }

  /** Null once there is nothing more to do about this batch, else how long the server asks to wait (0: it does not say). */
  async #postBatch(batch: readonly WidgetEvent[]): Promise<number | null> {
    try {
      const response = await fetch(this.#address, {
        method: 'POST',
        body: this.#bodyOf(batch),
        // Plain text needs no leave to ask of the server first.
        headers: { 'Content-Type': 'text/plain' },
        keepalive: true,
        credentials: 'omit',
        signal: AbortSignal.timeout(limits.eventTimeoutMs),
      });
      const again = response.status === 429 || response.status === 503;
      return again ? (parseRetryAfterMs(response.headers.get('Retry-After')) ?? 0) : null;
    } catch {
      return 0;
    }
  }

  #sendBeacons(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    while (this.#pendingEvents.length > 0) {
      const batch = this.#pendingEvents.splice(0, limits.eventsPerBatchMax);
      if (navigator.sendBeacon(this.#address, this.#bodyOf(batch))) continue;
      // The browser has no room for more: should the page come back, the next event takes these along.
      this.#pendingEvents.unshift(...batch);
      return;
    }
  }

  #bodyOf(events: readonly WidgetEvent[]): string {
    return JSON.stringify({ load: this.#load, events });
  }

  #dropOldest(): void {
    const tooMany = this.#pendingEvents.length - limits.pendingEventsMax;
    if (tooMany > 0) this.#pendingEvents.splice(0, tooMany);
  }
}
