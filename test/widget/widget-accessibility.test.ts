import { accessibility } from './suites/accessibility.ts';
import { declareSuites } from './widget-test-pages.ts';

declareSuites(accessibility);
