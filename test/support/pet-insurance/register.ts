import { registerVertical } from '../../../src/verticals/registry.ts';
import { petInsurance } from './pet-insurance.ts';
import { petPolicy } from './pet-policy.ts';

// This line registers the vertical. `node --import` runs it in the main thread and in every worker thread.
registerVertical(petInsurance, petPolicy, new URL('./', import.meta.url));
