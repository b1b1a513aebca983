import type { PublicUrls } from './config.ts';

/** What each of our addresses is set by. */
export const urlSettingNames = {
  public: 'SVC_PUBLIC_URL',
  click: 'SVC_CLICK_URL',
  widget: 'SVC_WIDGET_URL',
  cdn: 'SVC_CDN_URL',
} as const satisfies Record<keyof PublicUrls, string>;
