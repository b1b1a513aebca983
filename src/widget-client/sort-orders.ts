/** What the orders of the API are called before a borrower. */
export const sortLabels = {
  recommended: 'Recommended',
  lowest_apr: 'Lowest APR',
  highest_amount: 'Highest amount',
  svc_revenue: 'Sponsored first',
} as const;

export type SortOrder = keyof typeof sortLabels;

export function isSortOrder(name: string): name is SortOrder {
  return Object.hasOwn(sortLabels, name);
}

/** The order by revenue serves the partner, not the borrower: it is offered only where the partner's page began with it. */
export function sortOrdersFor(first: SortOrder): readonly SortOrder[] {
  return first === 'svc_revenue'
    ? ['recommended', 'lowest_apr', 'highest_amount', 'svc_revenue']
    : ['recommended', 'lowest_apr', 'highest_amount'];
}
