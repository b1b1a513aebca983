import { builtInVerticals } from '../../../src/verticals/built-in-verticals.ts';
import { petInsurance } from './pet-insurance.ts';
import { petPolicy } from './pet-policy.ts';

// This line registers the vertical. `node --import` runs it in the main thread and in every worker thread.
builtInVerticals.register(petInsurance, petPolicy, new URL('./', import.meta.url));
