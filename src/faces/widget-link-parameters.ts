/** What the address of a widget's page, and of what its script asks for, may hold (D9). */
export const widgetLinkParameters = new Set(['sub', 'token', 'sort', 'max_offers', 'load'] as const);

type Name = typeof widgetLinkParameters extends Set<infer Each extends string> ? Each : never;

/** The values sent; undefined where absent. */
export type WidgetLinkParameters = Partial<Record<Name, string>>;
