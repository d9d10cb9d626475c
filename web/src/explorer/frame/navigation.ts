// The pages in the navigation.

/** Name, path, and the key that opens the page after `g`. */
export const PAGES = [
  ['Home', '/', 'h'],
  ['Search', '/search', 'e'],
  ['List', '/lookup', 'o'],
  ['Shared values', '/pivot', 'p'],
  ['Market', '/market', 'm'],
  ['Migrations', '/migrations', 'i'],
  ['Security', '/security', 's'],
  ['Alerts', '/alerts', 'a'],
  ['Advisories', '/advisories', 'v'],
  ['Feeds', '/feeds', 'f'],
  ['Live', '/live', 'l'],
  ['Watchlists', '/watchlists', 'w'],
  ['Compare', '/compare', 'c'],
  ['Calibration', '/calibration', 'b'],
  ['Status', '/status', 't'],
  ['Get started', '/start', 'k'],
] as const;
