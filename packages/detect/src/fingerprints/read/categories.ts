// The categories of the public sets mapped to ours: the kinds of a technology, and the category that its own answer or
// alias counts for. A technology that a page merely loads counts as web_platform.

import type { Category } from '../../profile.ts';
import type { Kind } from '../../rulebook/kinds.ts';

interface SetCategory {
  /** The public name; a set with its own list of categories is mapped by these names. */
  readonly name: string;
  readonly category: Extract<Category, 'web_platform' | 'hosting' | 'cdn'>;
  readonly kinds: readonly Kind[];
}

type Row = readonly [id: number, name: string, kinds?: string, category?: SetCategory['category']];

/** Public id, public name, our kinds. The ids 40, 43 and 61 are unassigned. */
const ROWS: readonly Row[] = [
  [1, 'CMS', 'cms'],
  [2, 'Message boards', 'forum'],
  [3, 'Database managers', 'control-panel'],
  [4, 'Documentation', 'documentation'],
  [5, 'Widgets'],
  [6, 'Ecommerce', 'ecommerce'],
  [7, 'Photo galleries', 'cms'],
  [8, 'Wikis', 'wiki'],
  [9, 'Hosting panels', 'control-panel'],
  [10, 'Analytics', 'analytics'],
  [11, 'Blogs', 'cms publishing'],
  [12, 'JavaScript frameworks', 'web-framework'],
  [13, 'Issue trackers', 'project-management'],
  [14, 'Video players', 'video'],
  [15, 'Comment systems', 'comments'],
  // Contains HSTS, sign-in methods and seals as well as firewalls, so it does not show what is in front of a site.
  [16, 'Security', 'security'],
  [17, 'Font scripts', 'fonts'],
  [18, 'Web frameworks', 'web-framework'],
  [19, 'Miscellaneous'],
  [20, 'Editors', 'design'],
  [21, 'LMS', 'learning-platform'],
  [22, 'Web servers', 'web-server'],
  [23, 'Caching', 'cache'],
  [24, 'Rich text editors', 'ui-library'],
  [25, 'JavaScript graphics', 'ui-library'],
  [26, 'Mobile frameworks', 'web-framework'],
  [27, 'Programming languages', 'language'],
  [28, 'Operating systems', 'operating-system'],
  [29, 'Search engines', 'search'],
  [30, 'Webmail', 'mailbox'],
  [31, 'CDN', 'cdn', 'cdn'],
  [32, 'Marketing automation', 'marketing-automation'],
  [33, 'Web server extensions', 'web-server'],
  [34, 'Databases', 'data-platform'],
  [35, 'Maps', 'maps'],
  [36, 'Advertising', 'advertising'],
  [37, 'Network devices', 'web-server'],
  [38, 'Media servers', 'video'],
  [39, 'Webcams', 'video'],
  [41, 'Payment processors', 'payments'],
  [42, 'Tag managers', 'tag-manager'],
  [44, 'CI', 'developer-tools'],
  [45, 'Control systems', 'web-server'],
  [46, 'Remote access', 'device-management'],
  [47, 'Development', 'developer-tools'],
  [48, 'Network storage', 'file-sharing'],
  [49, 'Feed readers', 'publishing'],
  [50, 'DMS', 'file-sharing'],
  [51, 'Page builders', 'site-builder'],
  [52, 'Live chat', 'live-chat'],
  [53, 'CRM', 'crm'],
  [54, 'SEO', 'marketing-automation'],
  [55, 'Accounting', 'finance'],
  [56, 'Cryptominers'],
  [57, 'Static site generator', 'web-framework'],
  [58, 'User onboarding', 'product-analytics'],
  [59, 'JavaScript libraries', 'ui-library'],
  [60, 'Containers', 'application-server'],
  [62, 'PaaS', 'app-platform', 'hosting'],
  [63, 'IaaS', 'cloud', 'hosting'],
  [64, 'Reverse proxies', 'web-server'],
  [65, 'Load balancers', 'web-server'],
  [66, 'UI frameworks', 'ui-library'],
  [67, 'Cookie compliance', 'consent'],
  [68, 'Accessibility', 'accessibility'],
  [69, 'Authentication', 'identity'],
  [70, 'SSL/TLS certificate authorities', 'certificate-authority'],
  [71, 'Affiliate programs', 'affiliate'],
  [72, 'Appointment scheduling', 'scheduling'],
  [73, 'Surveys', 'surveys'],
  [74, 'A/B Testing', 'ab-testing'],
  [75, 'Email', 'mailbox'],
  [76, 'Personalisation', 'personalisation'],
  [77, 'Retargeting', 'advertising'],
  [78, 'RUM', 'monitoring'],
  [79, 'Geolocation', 'maps'],
  [80, 'WordPress themes', 'design'],
  [81, 'Shopify themes', 'design'],
  [82, 'Drupal themes', 'design'],
  [83, 'Browser fingerprinting', 'bot-management'],
  [84, 'Loyalty & rewards', 'loyalty'],
  [85, 'Feature management', 'feature-flags'],
  [86, 'Segmentation', 'customer-data'],
  [87, 'WordPress plugins', 'cms'],
  [88, 'Hosting', 'web-host', 'hosting'],
  [89, 'Translation', 'translation'],
  [90, 'Reviews', 'reviews'],
  [91, 'Buy now pay later', 'payments'],
  [92, 'Performance', 'monitoring'],
  [93, 'Reservations & delivery', 'scheduling'],
  [94, 'Referral marketing', 'affiliate'],
  [95, 'Digital asset management', 'file-sharing'],
  [96, 'Content curation', 'publishing'],
  [97, 'Customer data platform', 'customer-data'],
  [98, 'Cart abandonment', 'marketing-automation ecommerce'],
  [99, 'Shipping carriers', 'ecommerce'],
  [100, 'Shopify apps', 'ecommerce'],
  [101, 'Recruitment & staffing', 'recruiting'],
  [102, 'Returns', 'ecommerce'],
  [103, 'Livestreaming', 'video'],
  [104, 'Ticket booking', 'events'],
  [105, 'Augmented reality', 'ui-library'],
  [106, 'Cross border ecommerce', 'ecommerce'],
  [107, 'Fulfilment', 'ecommerce'],
  [108, 'Ecommerce frontends', 'ecommerce'],
  [109, 'Domain parking', 'domain-marketplace'],
  [110, 'Form builders', 'forms'],
  [111, 'Fundraising & donations', 'payments'],
  [112, 'Artificial Intelligence', 'ai'],
];

const BY_ID: ReadonlyMap<number, SetCategory> = new Map(
  ROWS.map(([id, name, kinds = '', category = 'web_platform']) => [
    id,
    { name, category, kinds: kinds.split(' ').filter((kind) => kind !== '') as Kind[] },
  ]),
);
const BY_NAME: ReadonlyMap<string, SetCategory> = new Map(
  [...BY_ID.values()].map((category) => [category.name.toLowerCase(), category]),
);

/** Names of a set's categories by id, where it brings a list of its own. */
export type CategoryNames = ReadonlyMap<number, string>;

/**
 * The public category of an id, by the set's own name for it if there is one; undefined if it is not a public category.
 */
export function setCategoryOf(id: number, names: CategoryNames): SetCategory | undefined {
  const name = names.get(id);
  return name === undefined ? BY_ID.get(id) : BY_NAME.get(name.toLowerCase());
}
