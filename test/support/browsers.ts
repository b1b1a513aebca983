const chrome = 'AppleWebKit/537.36 (KHTML, like Gecko) Chrome/124.0.0.0';
const iphone = 'Mozilla/5.0 (iPhone; CPU iPhone OS 17_4 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko)';

/** User agents of common browsers and apps, with their device types. */
export const browsers: readonly { device: 'desktop' | 'mobile' | 'tablet'; userAgent: string }[] = [
  // Desktop browsers with the Chromium engine, and Electron apps
  { device: 'desktop', userAgent: `Mozilla/5.0 (Windows NT 10.0; Win64; x64) ${chrome} Safari/537.36` },
  { device: 'desktop', userAgent: `Mozilla/5.0 (X11; Linux x86_64) ${chrome} Safari/537.36` },
  { device: 'desktop', userAgent: `Mozilla/5.0 (X11; CrOS x86_64 14541.0.0) ${chrome} Safari/537.36` },
  {
    device: 'desktop',
    userAgent: `Mozilla/5.0 (Windows NT 10.0; Win64; x64) ${chrome} Safari/537.36 Edg/124.0.2478.51`,
  },
  { device: 'desktop', userAgent: `Mozilla/5.0 (Windows NT 10.0; Win64; x64) ${chrome} Safari/537.36 OPR/109.0.0.0` },
  {
    device: 'desktop',
    userAgent: `Mozilla/5.0 (Windows NT 10.0; Win64; x64) ${chrome} YaBrowser/24.4.0.0 Safari/537.36`,
  },
  {
    device: 'desktop',
    userAgent: `Mozilla/5.0 (Windows NT 10.0; Win64; x64) ${chrome} Safari/537.36 Vivaldi/6.7.3329.17`,
  },
  // Desktop browsers with other engines: Safari, Firefox, Internet Explorer
  {
    device: 'desktop',
    userAgent:
      'Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/17.4 Safari/605.1.15',
  },
  { device: 'desktop', userAgent: 'Mozilla/5.0 (X11; Ubuntu; Linux x86_64; rv:125.0) Gecko/20100101 Firefox/125.0' },
  { device: 'desktop', userAgent: 'Mozilla/5.0 (Windows NT 10.0; WOW64; Trident/7.0; rv:11.0) like Gecko' },
  // Browsers on phones
  { device: 'mobile', userAgent: `${iphone} Version/17.4.1 Mobile/15E148 Safari/604.1` },
  { device: 'mobile', userAgent: `${iphone} CriOS/124.0.6367.71 Mobile/15E148 Safari/604.1` },
  { device: 'mobile', userAgent: `${iphone} FxiOS/125.0 Mobile/15E148 Safari/605.1.15` },
  { device: 'mobile', userAgent: `Mozilla/5.0 (Linux; Android 10; K) ${chrome} Mobile Safari/537.36` },
  {
    device: 'mobile',
    userAgent: `Mozilla/5.0 (Linux; Android 14; SM-S921B) AppleWebKit/537.36 (KHTML, like Gecko) SamsungBrowser/24.0 Chrome/117.0.0.0 Mobile Safari/537.36`,
  },
  { device: 'mobile', userAgent: 'Mozilla/5.0 (Android 14; Mobile; rv:125.0) Gecko/125.0 Firefox/125.0' },
  { device: 'mobile', userAgent: 'Opera/9.80 (Android; Opera Mini/36.2/119.132; U; id) Presto/2.12.423 Version/12.16' },
  // A phone maker whose name ends in `bot`
  { device: 'mobile', userAgent: `Mozilla/5.0 (Linux; Android 11; CUBOT X30) ${chrome} Mobile Safari/537.36` },
  { device: 'mobile', userAgent: `Mozilla/5.0 (Linux; Android 9; CUBOT_X18_Plus) ${chrome} Mobile Safari/537.36` },
  // Browsers inside apps; the link previews of the same companies are bots
  {
    device: 'mobile',
    userAgent: `${iphone} Mobile/15E148 [FBAN/FBIOS;FBAV/460.0.0.34.109;FBDV/iPhone14,5;FBMD/iPhone;FBSN/iOS;FBSV/17.4]`,
  },
  { device: 'mobile', userAgent: `${iphone} Mobile/15E148 Instagram 328.0.0.27.85 (iPhone14,5; iOS 17_4; en_US)` },
  { device: 'mobile', userAgent: `${iphone} Mobile/15E148 [Pinterest/iOS]` },
  { device: 'mobile', userAgent: `${iphone} Mobile/15E148 Twitter for iPhone/10.36` },
  { device: 'mobile', userAgent: `${iphone} Mobile/15E148 [LinkedInApp]/9.29.7300` },
  { device: 'mobile', userAgent: `${iphone} Version/17.4 Mobile/15E148 DuckDuckGo/7 Safari/605.1.15` },
  { device: 'mobile', userAgent: `${iphone} GSA/310.0.622 Mobile/15E148 Safari/604.1` },
  // Browsers on tablets
  {
    device: 'tablet',
    userAgent:
      'Mozilla/5.0 (iPad; CPU OS 17_4 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/17.4 Mobile/15E148 Safari/604.1',
  },
  { device: 'tablet', userAgent: `Mozilla/5.0 (Linux; Android 13; SM-X700) ${chrome} Safari/537.36` },
  {
    device: 'tablet',
    userAgent:
      'Mozilla/5.0 (Linux; Android 9; KFMAWI) AppleWebKit/537.36 (KHTML, like Gecko) Silk/120.0 like Chrome/120.0 Safari/537.36',
  },
];
