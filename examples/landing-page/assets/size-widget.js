addEventListener('message', ({ origin, source, data }) => {
  if (data?.type !== 'svc-offers-height') return;
  const frames = [...document.querySelectorAll('iframe')];
  const frame = frames.find(({ contentWindow, src }) => contentWindow === source && new URL(src).origin === origin);
  if (frame !== undefined) frame.style.height = `${data.height}px`;
});
