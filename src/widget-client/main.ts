import { complain } from './complain.ts';
import { OffersWidget } from './offers-widget.ts';
import { readSettings } from './settings.ts';
import { whenContainerIsThere } from './when-container-is-there.ts';
import { whenVisited } from './when-visited.ts';

// Known only while the script first runs. Every script element starts a widget of its own, also with the same address.
const script = document.currentScript;
const settings =
  script instanceof HTMLScriptElement ? readSettings(script) : 'load it with a classic <script src>, not as a module.';

if (typeof settings === 'string') complain(settings);
else {
  whenVisited(() =>
    whenContainerIsThere(settings.mount, (container) => {
      try {
        new OffersWidget(settings, container);
      } catch (fault) {
        complain(`this browser cannot show it (${fault}).`);
      }
    }),
  );
}
