/** What the address of a widget's page, and of what its script asks for, may hold (docs/contract.md#embed-code). */
export const widgetLinkParameters = ['sub', 'token', 'sort', 'max_offers', 'load'] as const;

/** The values sent; undefined where absent. */
export type WidgetLinkParameters = Partial<Record<(typeof widgetLinkParameters)[number], string>>;
