import { expiry } from './suites/expiry.ts';
import { noOffers } from './suites/no-offers.ts';
import { offersShown } from './suites/offers-shown.ts';
import { widgetEvents } from './suites/widget-events.ts';
import { declareSuites } from './widget-test-pages.ts';

declareSuites(offersShown, noOffers, expiry, widgetEvents);
