import type { Decision } from '../../src/experiments/decide.ts';
import type { ExperimentDefinition } from '../../src/experiments/experiment.ts';

/** An arm of a demo experiment. The experiment has two arms, each with the weight 0.5. */
export interface DemoArm {
  readonly tag: string;
  readonly label: string;
  /** Probability that a session gets this arm; it differs from the weight if the split is broken. Ignored if the unit is the visitor. */
  readonly drawn: number;
  /** Probability that a visitor completes the form and sees offers. */
  readonly completesForm: number;
  /** Probability that a visitor clicks one of the offers. */
  readonly clicksOffer: number;
}

/** A demo experiment. The first arm is the control. If the unit is the visitor, the hash of the visitor assigns the arm. */
export interface DemoExperiment extends Pick<ExperimentDefinition, 'unit' | 'minEffectPercent' | 'hypothesis'> {
  readonly name: string;
  readonly arms: readonly [DemoArm, DemoArm];
  /** Sessions on an average day. In verticals in which clicks confirm their own revenue, fewer sessions give a result. */
  readonly sessionsPerDay: { readonly confirmedByLender: number; readonly confirmedByClick: number };
  /** Whether the experiment ends, on a day after the end of the history. */
  readonly hasEnd: boolean;
  /** Decision after 90 days. */
  readonly decision: Decision;
}

const usual = { drawn: 0.5, completesForm: 0.5, clicksOffer: 0.5 };

export const demoExperiments: readonly DemoExperiment[] = [
  {
    name: 'short-form',
    unit: 'session',
    arms: [
      { tag: 'form-three-pages', label: 'Form on three pages', ...usual },
      { tag: 'form-one-page', label: 'Form on one page', ...usual, completesForm: 0.75, clicksOffer: 0.6 },
    ],
    sessionsPerDay: { confirmedByLender: 600, confirmedByClick: 80 },
    hypothesis: 'A short form loses fewer visitors before they see offers.',
    minEffectPercent: 20,
    hasEnd: false,
    decision: 'better',
  },
  {
    name: 'rate-headline',
    unit: 'session',
    arms: [
      { tag: 'headline-plain', label: 'Headline without a rate', ...usual },
      { tag: 'headline-rate', label: 'Headline with a rate', ...usual, clicksOffer: 0.6 },
    ],
    sessionsPerDay: { confirmedByLender: 240, confirmedByClick: 50 },
    hypothesis: 'A rate in the headline attracts visitors who compare offers.',
    minEffectPercent: 15,
    hasEnd: true,
    decision: 'undecided',
  },
  {
    name: 'same-page',
    unit: 'visitor',
    arms: [
      { tag: 'home-a', label: 'Home page', ...usual },
      { tag: 'home-b', label: 'The same home page', ...usual },
    ],
    sessionsPerDay: { confirmedByLender: 160, confirmedByClick: 60 },
    hypothesis: 'There is no difference, because both arms show the same page.',
    minEffectPercent: 10,
    hasEnd: true,
    decision: 'undecided',
  },
  {
    name: 'lost-redirect',
    unit: 'session',
    arms: [
      { tag: 'photo-house', label: 'Photo of a house', ...usual, drawn: 0.56 },
      { tag: 'photo-family', label: 'Photo of a family', ...usual, drawn: 0.44 },
    ],
    sessionsPerDay: { confirmedByLender: 60, confirmedByClick: 60 },
    hypothesis: 'A photo of people invites more visitors to fill in the form.',
    minEffectPercent: null,
    hasEnd: false,
    decision: 'invalid',
  },
];

/** Returns the true relative difference of the revenue per session between the second arm and the control. */
export function trueEffect({ arms: [control, other] }: DemoExperiment): number {
  return (other.completesForm * other.clicksOffer) / (control.completesForm * control.clicksOffer) - 1;
}
