/**
 * Requests for every 100 sessions, on a page that lets every visitor come as far as offers: the dearest reading of a session,
 * so that traffic of which a part leaves before costs less than this. The other shares are assumptions, not measured
 * anywhere: 30 of 100 fill in the form in two steps and not one; 15 look at their offers again, in another order or after
 * coming back; 22 follow an offer; and whoever runs the experiment asks for its figures twice.
 */
export const lifecycleMix = {
  session: 100,
  inputs: 130,
  'marketplace, first look': 100,
  'marketplace, another look': 15,
  click: 22,
  analytics: 2,
} as const;

export type LifecycleStep = keyof typeof lifecycleMix;

const lifecycleSteps = Object.keys(lifecycleMix) as LifecycleStep[];
const totalWeight = lifecycleSteps.reduce((sum, step) => sum + lifecycleMix[step], 0);

/** How many requests of each step about so many requests hold; of analytics two at least, one of each kind. */
export function lifecycleRequestCounts(about: number): Record<LifecycleStep, number> {
  const count = (step: LifecycleStep) =>
    Math.max(step === 'analytics' ? 2 : 1, Math.round((about * lifecycleMix[step]) / totalWeight));
  return Object.fromEntries(lifecycleSteps.map((step) => [step, count(step)])) as Record<LifecycleStep, number>;
}
