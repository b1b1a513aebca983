/**
 * How long a drain goes on accepting: `delayMs`, and at least until the event loop has looked for connections once more. Those
 * that the system has established would be reset by closing the listening socket.
 */
export async function keepAcceptingConnections(delayMs: number): Promise<void> {
  if (delayMs > 0) await new Promise((resolve) => setTimeout(resolve, delayMs));
  // The first ends this turn of the event loop, the second one that has looked at the sockets.
  await new Promise(setImmediate);
  await new Promise(setImmediate);
}
