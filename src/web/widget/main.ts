import { reportIntegrationError, whenContainerExists, whenNotPrerendering } from './host-page.ts';
import { OffersWidget } from './offers-widget.ts';
import { findProductView } from './products/find-product-view.ts';
import { readSettings } from './settings.ts';

/** Starts the widget of a script element. Each script element on the page starts its own widget. */
function start(script: HTMLScriptElement): void {
  // A page that mounts, unmounts and mounts a widget at once leaves two scripts to run, of which only the second is on the page.
  if (!script.isConnected && [...document.scripts].some((other) => other.isEqualNode(script))) return;
  const settings = readSettings(script);
  if (typeof settings === 'string') reportIntegrationError(settings);
  else if (findProductView(settings.vertical).sortOrderLabels[settings.sort] === undefined) {
    reportIntegrationError(`data-sort="${settings.sort}" is not available for data-vertical="${settings.vertical}".`);
  } else {
    if (settings.accent === null && script.dataset.accent !== undefined) {
      reportIntegrationError('the accent must be a color such as #0a7d5f.');
    }
    whenNotPrerendering(() =>
      whenContainerExists(settings.mount, script, (container) => {
        try {
          new OffersWidget(settings, container);
        } catch (error) {
          reportIntegrationError(`this browser cannot show it (${error}).`);
        }
      }),
    );
  }
}

// In callbacks, `document.currentScript` is null.
const script = document.currentScript;
if (script instanceof HTMLScriptElement) start(script);
else reportIntegrationError('load it with a classic <script src>, not as a module.');
