import * as widgetLimits from './limits.ts';
import type { WidgetLoad } from './widget-load.ts';

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
 * Sends the events of one widget load to the server in batches. A failed batch is sent again with the same event IDs, so the server counts
 * each event once. All pending events are sent as beacons when the visitor leaves or hides the page, or when the widget ends. A widget
 * that has ended reports no further events.
 */
export class EventQueue {
  readonly #address: string;
  readonly #load: WidgetLoad;
  readonly #endSignal: AbortSignal;
  #pendingEvents: WidgetEvent[] = [];
  #consecutiveFailures = 0;
  #timer: ReturnType<typeof setTimeout> | undefined;
  #sending = false;

  /** @param address URL to which the queue sends events by POST */
  constructor(address: string, load: WidgetLoad, endSignal: AbortSignal) {
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
    if (this.#endSignal.aborted) return;
    // Event IDs must be unique in a session, which may have several widget loads, so each event ID contains the load ID.
    const event_id = `${this.#load.id}-${++this.#load.eventCount}`;
    this.#pendingEvents.push(offerId === undefined ? { event_id, type } : { event_id, type, svc_offer_id: offerId });
    this.#dropOldest();
    this.#scheduleSend(widgetLimits.eventBatchDelayMs);
  }

  /** Sends the pending events without waiting for more events, because the visitor may be about to leave the page. */
  flush(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    this.#scheduleSend(0);
  }

  #scheduleSend(ms: number): void {
    if (this.#sending) return;
    this.#timer ??= setTimeout(() => {
      this.#timer = undefined;
      void this.#sendBatch();
    }, ms);
  }

  async #sendBatch(): Promise<void> {
    const batch = this.#pendingEvents.splice(0, widgetLimits.eventsPerBatchMax);
    if (batch.length === 0) return;
    this.#sending = true;
    const retryDelayMs = await this.#postBatch(batch);
    this.#sending = false;
    if (retryDelayMs === null) {
      this.#consecutiveFailures = 0;
      if (this.#pendingEvents.length > 0) this.#scheduleSend(0);
      return;
    }
    this.#pendingEvents.unshift(...batch);
    this.#dropOldest();
    if (document.visibilityState === 'hidden' || this.#endSignal.aborted) this.#sendBeacons();
    else if (++this.#consecutiveFailures < widgetLimits.eventFailuresMax)
      this.#scheduleSend(retryDelayMs || widgetLimits.eventRetryDelayMs * 2 ** (this.#consecutiveFailures - 1));
  }

  /**
   * Sends a batch of events. Returns null if the widget must not send the batch again, and otherwise the delay in milliseconds from the
   * `Retry-After` header (0 without this header).
   */
  async #postBatch(batch: readonly WidgetEvent[]): Promise<number | null> {
    try {
      const response = await fetch(this.#address, {
        method: 'POST',
        body: this.#serializeBatch(batch),
        // Sends plain text, because browsers send no preflight request for this content type.
        headers: { 'Content-Type': 'text/plain' },
        keepalive: true,
        credentials: 'omit',
        signal: AbortSignal.timeout(widgetLimits.eventTimeoutMs),
      });
      const retry = response.status === 429 || response.status === 503;
      return retry ? (widgetLimits.parseRetryAfterMs(response.headers.get('Retry-After')) ?? 0) : null;
    } catch {
      return 0;
    }
  }

  #sendBeacons(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    while (this.#pendingEvents.length > 0) {
      const batch = this.#pendingEvents.splice(0, widgetLimits.eventsPerBatchMax);
      if (navigator.sendBeacon(this.#address, this.#serializeBatch(batch))) continue;
      // `sendBeacon` returns false if the browser's limit for queued beacons is reached. A batch that `sendBeacon` rejects is sent after
      // the next event occurs.
      this.#pendingEvents.unshift(...batch);
      return;
    }
  }

  #serializeBatch(events: readonly WidgetEvent[]): string {
    return JSON.stringify({ load: this.#load.id, events });
  }

  #dropOldest(): void {
    const excess = this.#pendingEvents.length - widgetLimits.pendingEventsMax;
    if (excess > 0) this.#pendingEvents.splice(0, excess);
  }
}
