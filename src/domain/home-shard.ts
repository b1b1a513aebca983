/** Returns the shard that issued an account number: its upper 16 bits. The service without other shards is shard 0. */
export function homeShard(account: number): number {
  return account >>> 16;
}

/** Returns the first account number of a shard. */
export function firstAccountNumber(shard: number): number {
  return shard * 0x1_0000 + 1;
}

/** Highest account number of each home shard. Numbers of a shard never decrease, but shards count independently of each other. */
export class HighestAccounts {
  /** Sparse list by home shard. */
  readonly #byShard: number[] = [];

  constructor(accounts: Iterable<number> = []) {
    for (const account of accounts) this.add(account);
  }

  add(account: number): void {
    const shard = homeShard(account);
    if (account > (this.#byShard[shard] ?? 0)) this.#byShard[shard] = account;
  }

  /** Whether this account number, or a higher one of the same shard, was added. */
  includes(account: number): boolean {
    return account <= (this.#byShard[homeShard(account)] ?? 0);
  }

  /** Returns the highest account number of each shard of which a number was added, in ascending order. */
  list(): number[] {
    return Object.values(this.#byShard);
  }
}
