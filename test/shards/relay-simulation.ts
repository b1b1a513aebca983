/**
 * Simulation of clicks that a shard forwards to the shard of the account, and relays later if that shard is silent: the queue and the
 * counting rule of the product, with a connection that breaks, late answers and kills. Each schedule is a sequence of random steps.
 */
import { classifyClick } from '../../src/clicks/click-rules.ts';
import { type RelayedClick, RelayedClicks } from '../../src/shards/relayed-clicks.ts';

/** Faults of a mutant. Each is false in a correct simulation. */
export interface RelayFaults {
  /** The shard on which a click arrived decides and counts it, if the other shard is silent. */
  readonly decidesWhereItArrived?: boolean;
  /** The shard of the account counts each relayed click. */
  readonly countsRelayedTwice?: boolean;
  /** A relayed click is not sent again after a lost connection. */
  readonly forgetsUnconfirmed?: boolean;
}

type Frame = { readonly kind: 'click' | 'relayed'; readonly id: number; readonly session: number };

const steps = 120;

/** Runs one schedule. Throws if a click was counted twice, or if a kept click was not counted. */
export function runRelaySchedule(seed: number, faults: RelayFaults = {}): void {
  let random = (Math.imul(seed + 1, 0x9e3779b1) ^ 0x2545f491) >>> 0 || 1;
  const below = (limit: number): number => {
    random ^= random << 13;
    random ^= random >>> 17;
    random ^= random << 5;
    random >>>= 0;
    return random % limit;
  };
  /** Number of counted clicks by session, from the ledgers of both shards. */
  const counted = new Map<number, number>();
  const count = (session: number) => counted.set(session, (counted.get(session) ?? 0) + 1);
  /** Sessions in the ledger of the owner, which a kill does not lose. */
  const ledger = new Set<number>();
  let toOwner: Frame[] = [];
  let toArrival: Frame[] = [];
  let isConnected = true;
  /** Sessions of forwarded clicks that wait for the answer of the owner. */
  const waiting = new Set<number>();
  /** Sessions of clicks that the arrival shard must hand over. */
  let kept = new Set<number>();
  const send = (id: number, [session]: RelayedClick) => toOwner.push({ kind: 'relayed', id, session });
  const createQueue = () => {
    const queue = new RelayedClicks(1_000, send);
    queue.setConnected(isConnected);
    return queue;
  };
  let queue = createQueue();
  let sessions = 0;

  const connect = (wanted: boolean) => {
    if (wanted === isConnected) return;
    isConnected = wanted;
    toOwner = [];
    toArrival = [];
    if (faults.forgetsUnconfirmed === true && wanted) queue = createQueue();
    else queue.setConnected(wanted);
  };
  const redirect = (session: number) => {
    waiting.delete(session);
    kept.add(session);
    if (faults.decidesWhereItArrived === true) count(session);
    queue.add([session, new Uint8Array(32), 'v1', 'an-offer', 'Lender', 1, null]);
  };
  const deliverToOwner = () => {
    const frame = toOwner.shift();
    if (frame === undefined) return;
    const rule = classifyClick({ wasShown: true, wasClicked: ledger.has(frame.session), createdMs: 0 }, 0);
    if (rule === 'counted' || (faults.countsRelayedTwice === true && frame.kind === 'relayed')) count(frame.session);
    ledger.add(frame.session);
    toArrival.push(frame);
  };
  const deliverToArrival = () => {
    const frame = toArrival.shift();
    if (frame === undefined) return;
    if (frame.kind === 'relayed') queue.remove(frame.id);
    else waiting.delete(frame.session);
  };

  for (let step = 0; step < steps; step++) {
    const action = below(100);
    if (action < 30) deliverToOwner();
    else if (action < 55) deliverToArrival();
    else if (action < 75) {
      const session = ++sessions;
      if (!isConnected) redirect(session);
      else {
        waiting.add(session);
        toOwner.push({ kind: 'click', id: 0, session });
      }
    } else if (action < 85) for (const session of waiting) redirect(session);
    else if (action < 95) connect(below(3) > 0);
    else if (action < 97) connect(false);
    else if (action === 97) {
      // The arrival shard is killed. Its relayed clicks are lost.
      connect(false);
      waiting.clear();
      kept = new Set();
      queue = createQueue();
    }
  }
  connect(false);
  for (const session of waiting) redirect(session);
  connect(true);
  while (queue.size > 0) {
    deliverToOwner();
    deliverToArrival();
    if (toOwner.length + toArrival.length === 0 && queue.size > 0)
      throw new Error('relayed clicks wait without frames');
  }
  for (const [session, times] of counted)
    if (times > 1) throw new Error(`click of session ${session} counted ${times} times`);
  for (const session of kept) if (!counted.has(session)) throw new Error(`click of session ${session} not counted`);
}
