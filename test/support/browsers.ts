const chrome = 'AppleWebKit/537.36 (KHTML, like Gecko) Chrome/124.0.0.0';
const iphone = 'Mozilla/5.0 (iPhone; CPU iPhone OS 17_4 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko)';

const userAgents = {
  desktop: [
    // Desktop browsers with the Chromium engine, and Electron apps
    `Mozilla/5.0 (Windows NT 10.0; Win64; x64) ${chrome} Safari/537.36`,
    `Mozilla/5.0 (X11; Linux x86_64) ${chrome} Safari/537.36`,
    `Mozilla/5.0 (X11; CrOS x86_64 14541.0.0) ${chrome} Safari/537.36`,
    `Mozilla/5.0 (Windows NT 10.0; Win64; x64) ${chrome} Safari/537.36 Edg/124.0.2478.51`,
    `Mozilla/5.0 (Windows NT 10.0; Win64; x64) ${chrome} Safari/537.36 OPR/109.0.0.0`,
    `Mozilla/5.0 (Windows NT 10.0; Win64; x64) ${chrome} YaBrowser/24.4.0.0 Safari/537.36`,
    `Mozilla/5.0 (Windows NT 10.0; Win64; x64) ${chrome} Safari/537.36 Vivaldi/6.7.3329.17`,
    // Desktop browsers with other engines: Safari, Firefox, Internet Explorer
    'Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/17.4 Safari/605.1.15',
    'Mozilla/5.0 (X11; Ubuntu; Linux x86_64; rv:125.0) Gecko/20100101 Firefox/125.0',
    'Mozilla/5.0 (Windows NT 10.0; WOW64; Trident/7.0; rv:11.0) like Gecko',
  ],
  mobile: [
    // Browsers on phones
    `${iphone} Version/17.4.1 Mobile/15E148 Safari/604.1`,
    `${iphone} CriOS/124.0.6367.71 Mobile/15E148 Safari/604.1`,
    `${iphone} FxiOS/125.0 Mobile/15E148 Safari/605.1.15`,
    `Mozilla/5.0 (Linux; Android 10; K) ${chrome} Mobile Safari/537.36`,
    `Mozilla/5.0 (Linux; Android 14; SM-S921B) AppleWebKit/537.36 (KHTML, like Gecko) SamsungBrowser/24.0 Chrome/117.0.0.0 Mobile Safari/537.36`,
    'Mozilla/5.0 (Android 14; Mobile; rv:125.0) Gecko/125.0 Firefox/125.0',
    'Opera/9.80 (Android; Opera Mini/36.2/119.132; U; id) Presto/2.12.423 Version/12.16',
    // A phone maker whose name ends in `bot`
    `Mozilla/5.0 (Linux; Android 11; CUBOT X30) ${chrome} Mobile Safari/537.36`,
    `Mozilla/5.0 (Linux; Android 9; CUBOT_X18_Plus) ${chrome} Mobile Safari/537.36`,
    // Browsers inside apps; the link previews of the same companies are bots
    `${iphone} Mobile/15E148 [FBAN/FBIOS;FBAV/460.0.0.34.109;FBDV/iPhone14,5;FBMD/iPhone;FBSN/iOS;FBSV/17.4]`,
    `${iphone} Mobile/15E148 Instagram 328.0.0.27.85 (iPhone14,5; iOS 17_4; en_US)`,
    `${iphone} Mobile/15E148 [Pinterest/iOS]`,
    `${iphone} Mobile/15E148 Twitter for iPhone/10.36`,
    `${iphone} Mobile/15E148 [LinkedInApp]/9.29.7300`,
    `${iphone} Version/17.4 Mobile/15E148 DuckDuckGo/7 Safari/605.1.15`,
    `${iphone} GSA/310.0.622 Mobile/15E148 Safari/604.1`,
  ],
  tablet: [
    // Browsers on tablets
    'Mozilla/5.0 (iPad; CPU OS 17_4 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/17.4 Mobile/15E148 Safari/604.1',
    `Mozilla/5.0 (Linux; Android 13; SM-X700) ${chrome} Safari/537.36`,
    'Mozilla/5.0 (Linux; Android 9; KFMAWI) AppleWebKit/537.36 (KHTML, like Gecko) Silk/120.0 like Chrome/120.0 Safari/537.36',
  ],
} as const;

/** User agents of common browsers and apps, with their device types. */
export const browsers = (['desktop', 'mobile', 'tablet'] as const).flatMap((device) =>
  userAgents[device].map((userAgent) => ({ device, userAgent })),
);
