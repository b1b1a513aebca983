import { reportIntegrationError, whenContainerExists, whenNotPrerendering } from './host-page.ts';
import { OffersWidget } from './offers-widget.ts';
import { findProductView } from './products/find-product-view.ts';
import { readSettings } from './settings.ts';

// In callbacks, `document.currentScript` is null. Each script element on the page starts its own widget.
const script = document.currentScript;
const settings =
  script instanceof HTMLScriptElement ? readSettings(script) : 'load it with a classic <script src>, not as a module.';

if (typeof settings === 'string') reportIntegrationError(settings);
else if (findProductView(settings.vertical).sortOrderLabels[settings.sort] === undefined) {
  reportIntegrationError(`data-sort="${settings.sort}" is not available for data-vertical="${settings.vertical}".`);
} else {
  whenNotPrerendering(() =>
    whenContainerExists(settings.mount, (container) => {
      try {
        new OffersWidget(settings, container);
      } catch (error) {
        reportIntegrationError(`this browser cannot show it (${error}).`);
      }
    }),
  );
}
