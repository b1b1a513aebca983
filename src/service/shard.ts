/** This server owns one shard of the log; more of them come with more boxes. */
export const shard = 0;
