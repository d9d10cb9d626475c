// The pages that the frame leads to.

/** Name, path and the letter that leads there after `g`. */
export const PAGES = [
  ['Home', '/', 'h'],
  ['Search', '/search', 'e'],
  ['Market', '/market', 'm'],
  ['Migrations', '/migrations', 'i'],
  ['Security', '/security', 's'],
  ['Alerts', '/alerts', 'a'],
  ['Advisories', '/advisories', 'v'],
  ['Feeds', '/feeds', 'f'],
  ['Live', '/live', 'l'],
  ['Compare', '/compare', 'c'],
  ['Status', '/status', 't'],
  ['Get started', '/start', 'k'],
] as const;
