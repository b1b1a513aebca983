// Loaded ahead of the program: to it, every look at the clock takes two seconds, so that small work takes long.
let nowMs = 0;
performance.now = () => {
  nowMs += 2_000;
  return nowMs;
};
