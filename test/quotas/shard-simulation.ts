/**
 * Simulation of shards that share a limit: the state machine of the product (`ShardGrants`) and its rule (`settleGrant`), with messages that
 * are lost, late or delivered twice, with pauses, kills, a lost store, wrong clocks, and catalogs that raise and lower the limit. Each
 * schedule is a sequence of random steps from a seed.
 */
import type { CatalogActivation, GrantReply, GrantRequest, Quota } from '../../src/quotas/quota-store.ts';
import { isForOneClick, ShardGrants } from '../../src/quotas/shard-grants.ts';
import { type MemoryGrant, MemoryQuotaStore, type StoreFaults } from './memory-quota-store.ts';

/** Faults of a mutant. Each is false in a correct simulation. */
export interface Faults extends StoreFaults {
  /** The store takes back the unused rest of a shard that was silent for some time. */
  readonly endsGrantsByClock?: boolean;
  /** A shard that activates a catalog keeps its unused rests. */
  readonly keepsRestOnActivation?: boolean;
  /** A shard lowers its amount only when the store has confirmed that it returned its rest. */
  readonly returnsLate?: boolean;
}

interface Click {
  readonly quota: Quota;
  readonly amount: number;
  attempts: number;
}

/** A message on its way to the store, or a reply on its way back. */
type Message =
  | { readonly kind: 'request'; readonly shard: Shard; readonly epoch: number; readonly request: GrantRequest }
  | { readonly kind: 'active'; readonly shard: Shard; readonly epoch: number; readonly activation: CatalogActivation }
  | { readonly kind: 'reply'; readonly shard: Shard; readonly grants: ShardGrants; readonly reply: GrantReply }
  | { readonly kind: 'confirmed'; readonly shard: Shard; readonly grants: ShardGrants; readonly catalog: number };

/** A shard: what it loses when it is killed, and its ledger, which it keeps. */
interface Shard {
  readonly number: number;
  /** Booked amount by quota. */
  readonly ledger: Map<Quota, number>;
  /** Null while the process does not run. */
  grants: ShardGrants | null;
  /** Number of the activated catalog. */
  catalog: number;
  /** Whether the store knows that the catalog is active. */
  isDeclared: boolean;
  /** Last catalog that the store knows from this shard. */
  storedCatalog: number;
  /** Days by which the clock of the shard is ahead. */
  aheadDays: number;
  pausedSteps: number;
  /** Step of the last message that reached the store. */
  lastSeen: number;
  clicks: Click[];
}

/** Actions of a step, with their usual weights. */
const actionWeights = {
  deliver: 500,
  click: 220,
  retry: 80,
  returnContended: 60,
  report: 30,
  loadCatalog: 15,
  lose: 20,
  changeLimit: 15,
  pause: 10,
  kill: 10,
  start: 20,
  changeTime: 3,
  loseStore: 1,
};
type Action = keyof typeof actionWeights;

/** Factors of the weights in every third schedule; the others are random. So some schedules have only changed limits, or only kills. */
const weightProfiles: readonly Readonly<Partial<Record<Action, number>>>[] = [
  { deliver: 1, click: 1 },
  { deliver: 1, click: 1, changeLimit: 0.3, loadCatalog: 4, report: 0, lose: 0, kill: 0, changeTime: 0, loseStore: 0 },
  { deliver: 0.5, click: 1, kill: 4, start: 4, changeLimit: 0, changeTime: 0, loseStore: 0 },
];

/** Returns the number of a catalog from its version, which consists of the limit and the number. */
function parseCatalog(version: string): number {
  return Number(version.split(' ')[1]);
}

const scope = 2;
const days = 1;
const stepsPerSchedule = 300;
const clickAttempts = 3;
const waitingClicksMax = 2;

export class InvariantError extends Error {
  override readonly name = 'InvariantError';
}

/** Runs one schedule. Throws `InvariantError` if a limit was exceeded, or a click was refused for good while there was room. */
export function runSchedule(seed: number, faults: Faults = {}): void {
  new ShardSimulation(seed, faults).run();
}

class ShardSimulation {
  readonly #faults: Faults;
  readonly #shards: Shard[];
  readonly #quotas: readonly Quota[];
  /** Actions with the sums of their weights and of those before. */
  readonly #weights: readonly (readonly [Action, number])[];
  /** Booked amount of all shards by quota, and the highest sum that the limits have allowed. */
  readonly #totals = new Map<Quota, { used: number; ceiling: number }>();
  #store: MemoryQuotaStore;
  #messages: Message[] = [];
  #random: number;
  /** Limits in all catalogs, the latest last. */
  readonly #limits: number[] = [];
  #day = 0;
  #busyShard = 0;
  /** Shard that loads no new catalog before the end, unless it starts again; -1 for none. */
  readonly #slowShard: number;
  #step = 0;
  /** Whether messages may be lost or late, and shards may be killed. */
  #isUnreliable = true;

  constructor(seed: number, faults: Faults) {
    this.#random = (Math.imul(seed + 1, 0x9e3779b1) ^ 0x5bd1e995) >>> 0 || 1;
    this.#faults = faults;
    this.#weights = this.#drawWeights(seed);
    this.#changeLimit();
    const count = 2 + this.#below(3);
    this.#slowShard = this.#below(2) - 1;
    this.#store = new MemoryQuotaStore(count, faults);
    this.#quotas = Array.from({ length: days + 2 }, (_, period) => {
      return { scope, offerId: 'an-offer', kind: 'day_micros' as const, period };
    });
    for (const quota of this.#quotas) this.#totals.set(quota, { used: 0, ceiling: this.#limits[0]! });
    this.#shards = Array.from({ length: count }, (_, number) => ({
      number,
      ledger: new Map<Quota, number>(),
      grants: null,
      catalog: 0,
      isDeclared: false,
      storedCatalog: 0,
      aheadDays: 0,
      pausedSteps: 0,
      lastSeen: 0,
      clicks: [],
    }));
    for (const shard of this.#shards) this.#startShard(shard);
  }

  run(): void {
    for (this.#step = 1; this.#step <= stepsPerSchedule; this.#step++) this.#takeStep();
    this.#finish();
  }

  /** Returns the actions of a schedule with the sums of their weights. Draws the weights, so that each schedule has other faults. */
  #drawWeights(seed: number): readonly (readonly [Action, number])[] {
    let sum = 0;
    const profile = weightProfiles[seed % weightProfiles.length]!;
    return (Object.entries(actionWeights) as [Action, number][]).map(([action, weight]) => {
      sum += weight * (profile[action] ?? [1, 0, 0.5, 1, 3][this.#below(5)]!);
      return [action, sum] as const;
    });
  }

  #drawAction(): Action {
    const at = this.#below(Math.floor(this.#weights.at(-1)![1]));
    return this.#weights.find(([, sum]) => at < sum)![0];
  }

  /** A number from 0 to `below - 1`. */
  #below(below: number): number {
    let x = this.#random;
    x ^= x << 13;
    x ^= x >>> 17;
    x ^= x << 5;
    this.#random = x >>> 0;
    return this.#random % below;
  }

  #takeStep(): void {
    // Most steps concern one shard, because a rest that is idle for a long time is the more dangerous one.
    if (this.#below(40) === 0) this.#busyShard = this.#below(this.#shards.length);
    const shard = this.#shards[this.#below(8) === 0 ? this.#below(this.#shards.length) : this.#busyShard]!;
    if (shard.pausedSteps > 0) shard.pausedSteps--;
    const isRunning = shard.grants !== null && shard.pausedSteps === 0;
    const action = this.#drawAction();
    if (action === 'deliver') this.#deliverMessage();
    else if (action === 'lose') this.#messages.splice(this.#below(this.#messages.length + 1), 1);
    else if (action === 'changeLimit') this.#changeLimit();
    else if (action === 'pause') shard.pausedSteps = this.#below(30);
    else if (action === 'kill') this.#killShard(shard);
    else if (action === 'changeTime') this.#changeTime(shard);
    else if (action === 'loseStore') this.#loseStore();
    else if (action === 'start') {
      if (shard.grants === null) this.#startShard(shard);
    } else if (isRunning) {
      if (action === 'click') this.#click(shard);
      else if (action === 'retry') this.#retryClicks(shard);
      else if (action === 'returnContended') this.#returnContended(shard);
      else if (action === 'report') this.#reportOrReturn(shard);
      else if (shard.number !== this.#slowShard) this.#loadCatalog(shard);
    }
    if (this.#faults.endsGrantsByClock === true) this.#endGrants();
  }

  #deliverMessage(): void {
    if (this.#messages.length === 0) return;
    const at = this.#isUnreliable ? this.#below(this.#messages.length) : 0;
    const message = this.#messages[at]!;
    const isDuplicate = this.#isUnreliable && message.kind === 'request' && this.#below(20) === 0;
    if (!isDuplicate) this.#messages.splice(at, 1);
    this.#receive(message);
  }

  #receive(message: Message): void {
    const { shard } = message;
    if (message.kind === 'request') {
      shard.lastSeen = this.#step;
      const { grants } = shard;
      const [reply] = this.#store.settle(shard.number, message.epoch, [message.request]);
      if (grants !== null) this.#messages.push({ kind: 'reply', shard, grants, reply: reply! });
    } else if (message.kind === 'active') {
      if (shard.grants?.epoch !== message.epoch) return;
      this.#store.markCatalogActive(shard.number, message.epoch, message.activation);
      shard.storedCatalog = parseCatalog(this.#store.findCatalogVersion(shard.number, scope)!);
      this.#updateCeilings();
      const catalog = parseCatalog(message.activation.version);
      this.#messages.push({ kind: 'confirmed', shard, grants: shard.grants, catalog });
    } else if (shard.grants !== message.grants) {
      return;
    } else if (message.kind === 'confirmed') {
      if (message.catalog === shard.catalog) shard.isDeclared = true;
    } else this.#applyReply(shard, message.reply);
  }

  /** Applies a reply. Returns what the store granted for one click, if the click does not use it, as the service does. */
  #applyReply(shard: Shard, reply: GrantReply): void {
    const { quota } = reply.request;
    shard.grants!.applyReply(reply);
    this.#decideClicks(shard);
    const hasRest = shard.grants!.getGranted(quota) > (shard.ledger.get(quota) ?? 0);
    if (isForOneClick(reply) && hasRest) this.#giveBack(shard, quota);
  }

  #click(shard: Shard): void {
    const quota = this.#quotas[Math.min(this.#quotas.length - 1, this.#day + shard.aheadDays)]!;
    if (shard.clicks.length >= waitingClicksMax) return;
    shard.clicks.push({ quota, amount: this.#isUnreliable ? 1 + this.#below(3) : 1, attempts: 0 });
    this.#retryClicks(shard);
  }

  /** Decides the waiting clicks for which the shard has a grant, or which it can refuse. */
  #decideClicks(shard: Shard): void {
    shard.clicks = shard.clicks.filter((click) => {
      const { quota, amount } = click;
      const used = shard.ledger.get(quota) ?? 0;
      if (shard.grants!.covers(quota, used, amount)) {
        this.#book(shard, click);
        return false;
      }
      if (used + amount > this.#limits[shard.catalog]! || shard.grants!.isExhausted(quota, used, amount)) {
        this.#assertNoRoom(shard, click);
        return false;
      }
      // After some attempts, the click is not booked, but this is not final.
      return this.#isUnreliable ? click.attempts <= clickAttempts : true;
    });
  }

  #retryClicks(shard: Shard): void {
    this.#decideClicks(shard);
    const [click] = shard.clicks;
    if (click === undefined || !shard.isDeclared) return;
    for (const each of shard.clicks) each.attempts++;
    const { quota, amount } = click;
    const used = shard.ledger.get(quota) ?? 0;
    this.#send(shard, shard.grants!.take(quota, used, amount, this.#limits[shard.catalog]!));
  }

  #book(shard: Shard, { quota, amount }: Click): void {
    shard.ledger.set(quota, (shard.ledger.get(quota) ?? 0) + amount);
    const total = this.#totals.get(quota)!;
    total.used += amount;
    if (total.used > total.ceiling)
      throw new InvariantError(`step ${this.#step}: ${total.used} booked, allowed ${total.ceiling}`);
  }

  #assertNoRoom({ catalog }: Shard, { quota, amount }: Click): void {
    const { used } = this.#totals.get(quota)!;
    const limit = this.#limits[catalog]!;
    if (used + amount <= limit)
      throw new InvariantError(`step ${this.#step}: ${amount} refused for good, ${used} booked of ${limit}`);
  }

  #send(shard: Shard, request: GrantRequest): void {
    this.#messages.push({ kind: 'request', shard, epoch: shard.grants!.epoch, request });
  }

  #giveBack(shard: Shard, quota: Quota): void {
    const used = shard.ledger.get(quota) ?? 0;
    const granted = shard.grants!.getGranted(quota);
    const request = shard.grants!.giveBack(quota, used);
    this.#send(shard, request);
    if (this.#faults.returnsLate === true)
      shard.grants!.applyReply({ request, outcome: 'settled', granted: Math.max(granted, used) });
  }

  #returnContended(shard: Shard): void {
    for (const quota of this.#store.listContended(shard.number)) {
      this.#giveBack(shard, this.#quotas[quota.period]!);
    }
  }

  #reportOrReturn(shard: Shard): void {
    const quota = this.#quotas[this.#below(this.#quotas.length)]!;
    if (this.#below(2) === 0) this.#giveBack(shard, quota);
    else this.#send(shard, shard.grants!.report(quota, shard.ledger.get(quota) ?? 0));
    shard.grants!.forgetRefusals();
  }

  #loadCatalog(shard: Shard): void {
    if (shard.catalog !== this.#limits.length - 1) {
      shard.catalog = this.#limits.length - 1;
      shard.isDeclared = false;
      shard.grants!.forgetRefusals();
    }
    if (!shard.isDeclared) this.#declareCatalog(shard);
  }

  /** Returns all rests, and then declares the catalog. The store receives these messages in order. */
  #declareCatalog(shard: Shard): void {
    const grants = shard.grants!;
    for (const quota of this.#quotas) {
      const used = shard.ledger.get(quota) ?? 0;
      if (this.#faults.keepsRestOnActivation === true && used <= grants.getGranted(quota)) continue;
      const [reply] = this.#store.settle(shard.number, grants.epoch, [grants.giveBack(quota, used)]);
      grants.applyReply(reply!);
    }
    const activation = grants.activateCatalog(scope, `${this.#limits[shard.catalog]} ${shard.catalog}`);
    this.#messages.push({ kind: 'active', shard, epoch: grants.epoch, activation });
  }

  #changeLimit(): void {
    this.#limits.push(4 + this.#below(80));
  }

  /**
   * Sets the ceilings to the highest limit in force: those of the oldest catalog that is active on a shard, and of all later ones that are
   * active. What was booked remains booked, and what the store has granted in a reply that is still on its way may be booked.
   */
  #updateCeilings(): void {
    const active = this.#shards.map(({ storedCatalog }) => storedCatalog);
    const limit = Math.max(...this.#limits.slice(Math.min(...active), Math.max(...active) + 1));
    for (const [quota, total] of this.#totals) {
      let allowed = total.used;
      for (const { shard, reply } of this.#listReplies(quota))
        allowed += Math.max(0, reply.granted - (shard.ledger.get(quota) ?? 0));
      total.ceiling = Math.max(limit, Math.min(total.ceiling, allowed));
    }
  }

  #listReplies(quota: Quota) {
    return this.#messages.filter((message) => message.kind === 'reply' && message.reply.request.quota === quota) as {
      readonly shard: Shard;
      readonly reply: GrantReply;
    }[];
  }

  #killShard(shard: Shard): void {
    shard.grants = null;
    shard.clicks = [];
  }

  #startShard(shard: Shard): void {
    const { epoch, grants } = this.#store.startEpoch(shard.number);
    shard.grants = new ShardGrants(epoch, grants);
    shard.catalog = this.#limits.length - 1;
    shard.isDeclared = false;
    this.#declareCatalog(shard);
  }

  #changeTime(shard: Shard): void {
    if (this.#below(3) === 0) this.#day = Math.min(days, this.#day + 1);
    else shard.aheadDays = this.#below(2);
  }

  /** The file of the store is deleted while all shards are stopped. */
  #loseStore(): void {
    for (const shard of this.#shards) this.#killShard(shard);
    this.#messages = [];
    this.#store = new MemoryQuotaStore(this.#shards.length, this.#faults);
    for (const shard of this.#shards) if (this.#below(2) === 0) this.#startShard(shard);
  }

  #endGrants(): void {
    for (const { grants } of this.#store.rows.values()) {
      for (const grant of grants as MemoryGrant[])
        if (this.#step - this.#shards[grant.shard]!.lastSeen > 25) grant.granted = grant.used;
    }
  }

  /** Starts all shards with the last catalog, and clicks until each refuses for good. Then the limit must be used up. */
  #finish(): void {
    this.#isUnreliable = false;
    const quota = this.#quotas[this.#day]!;
    for (const shard of this.#shards) {
      Object.assign(shard, { aheadDays: 0, pausedSteps: 0, clicks: [] });
      if (shard.grants === null) this.#startShard(shard);
      this.#loadCatalog(shard);
    }
    this.#deliverAll();
    const open = new Set(this.#shards);
    for (let round = 0; open.size > 0; round++) {
      if (round > 1_000) throw new InvariantError(`${open.size} shards neither book nor refuse clicks`);
      for (const shard of open) {
        const before = shard.ledger.get(quota) ?? 0;
        shard.grants!.forgetRefusals();
        this.#click(shard);
        this.#deliverAll();
        for (const each of this.#shards) this.#returnContended(each);
        this.#deliverAll();
        this.#retryClicks(shard);
        this.#deliverAll();
        if (shard.clicks.length === 0 && (shard.ledger.get(quota) ?? 0) === before) open.delete(shard);
      }
    }
    const { used } = this.#totals.get(quota)!;
    if (used < this.#limits.at(-1)!) throw new InvariantError(`${used} booked of ${this.#limits.at(-1)} at the end`);
  }

  #deliverAll(): void {
    while (this.#messages.length > 0) this.#deliverMessage();
  }
}
