// The labels at which companies publish sites that a vendor hosts beside their own: asked in addition to those of the catalog.

/** As vendors' set-up guides name them; docs/probing.md has the gain of each. */
export const SITE_LABELS: ReadonlySet<string> = new Set([
  'blog',
  'careers',
  'community',
  'docs',
  'help',
  'jobs',
  'newsletter',
  'status',
  'support',
]);
