/** Draws the plots of the report in the colours of its style sheet. */
import type { LinePlot } from '../report-section.ts';
import { drawPlot } from './draw-plot.ts';

const plots: readonly LinePlot[] = JSON.parse(document.getElementById('plots')?.textContent ?? '[]');
/** Width of a printed page in pixels. */
const printedWidth = 640;

function drawAll(width?: number): void {
  for (const holder of document.querySelectorAll<HTMLElement>('[data-plot]')) {
    const plot = plots[Number(holder.dataset.plot)];
    if (plot !== undefined) drawPlot(holder, plot, width ?? holder.clientWidth);
  }
}

drawAll();

// The plots are drawn again for new colours, because a canvas does not react to style changes.
matchMedia('(prefers-color-scheme: dark)').addEventListener('change', () => drawAll());
let drawnWidth = innerWidth;
addEventListener('resize', () => {
  if (innerWidth === drawnWidth) return;
  drawnWidth = innerWidth;
  drawAll();
});
addEventListener('beforeprint', () => {
  document.documentElement.classList.add('printed');
  drawAll(printedWidth);
});
addEventListener('afterprint', () => {
  document.documentElement.classList.remove('printed');
  drawAll();
});
