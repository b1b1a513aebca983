/** Returns the shard that issued an account number: its upper 16 bits. The service without other shards is shard 0. */
export function homeShard(account: number): number {
  return account >>> 16;
}

/** Returns the first account number of a shard. */
export function firstAccountNumber(shard: number): number {
  return shard * 0x1_0000 + 1;
}
