import { reportIntegrationError, whenContainerExists, whenNotPrerendering } from './host-page.ts';
import { OffersWidget } from './offers-widget.ts';
import { readSettings } from './settings.ts';

// Known only while the script first runs. Every script element starts a widget of its own, also with the same address.
const script = document.currentScript;
const settings =
  script instanceof HTMLScriptElement ? readSettings(script) : 'load it with a classic <script src>, not as a module.';

if (typeof settings === 'string') reportIntegrationError(settings);
else {
  whenNotPrerendering(() =>
    whenContainerExists(settings.mount, (container) => {
      try {
        new OffersWidget(settings, container);
      } catch (fault) {
        reportIntegrationError(`this browser cannot show it (${fault}).`);
      }
    }),
  );
}
