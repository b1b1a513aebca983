import { containerReplaced } from './suites/container-replaced.ts';
import { documentedRequests } from './suites/documented-requests.ts';
import { hostPage } from './suites/host-page.ts';
import { iframe } from './suites/iframe.ts';
import { layoutStability } from './suites/layout-stability.ts';
import { declareSuites } from './widget-test-pages.ts';

declareSuites(iframe, hostPage, containerReplaced, documentedRequests, layoutStability);
