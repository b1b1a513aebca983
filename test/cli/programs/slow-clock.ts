// Preloaded into a command. Advances the clock by two seconds at every call, so that short work seems long.
let nowMs = 0;
performance.now = () => {
  nowMs += 2_000;
  return nowMs;
};
