// Software of a site: its pages and headers. All assets are the site's own or the platform's.
import type { Mint } from '../../random.ts';
import type { Revealed } from '../template.ts';
import { apacheBuilds, iisBuilds, liteSpeedBuilds, nginxBuilds, type ServerBuild } from './builds.ts';

export interface PlatformTemplate {
  readonly id: string;
  /** Weight on servers where any platform may run. */
  readonly weight: number;
  readonly isPhp: boolean;
  /** Further providers that its headers reveal: the company that hosts it for all customers. */
  readonly also?: readonly Revealed[];
  readonly generator?: (mint: Mint) => string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly cookies?: readonly string[];
  /** Scripts and styles, paths or URLs. */
  readonly assets: (mint: Mint) => readonly string[];
  /** Attributes on `<html>`, and a block in the body. */
  readonly htmlAttributes?: (mint: Mint) => string;
  readonly body?: (mint: Mint) => string;
}

export const platforms: readonly PlatformTemplate[] = [
  {
    id: 'wordpress',
    weight: 52,
    isPhp: true,
    generator: (m) => `WordPress 6.${m.number('wp', 2, 8)}.${m.number('wp2', 1, 3)}`,
    headers: { link: '</wp-json/>; rel="https://api.w.org/"' },
    assets: () => [
      '/wp-content/themes/company/style.css',
      '/wp-includes/js/wp-embed.min.js',
      '/wp-content/plugins/forms/forms.js',
    ],
  },
  {
    id: 'static',
    weight: 26,
    isPhp: false,
    assets: () => ['/assets/site.css', '/assets/site.js'],
  },
  {
    id: 'drupal',
    weight: 7,
    isPhp: true,
    generator: (m) => `Drupal ${m.number('dp', 9, 11)} (https://www.drupal.org)`,
    headers: { 'x-drupal-cache': 'HIT', 'x-generator': 'Drupal 10 (https://www.drupal.org)' },
    assets: () => ['/core/misc/drupal.js', '/sites/default/files/css/css_a1.css'],
    body: () => '<div data-drupal-selector="edit-search" id="block-main"></div>',
  },
  {
    id: 'joomla',
    weight: 5,
    isPhp: true,
    generator: () => 'Joomla! - Open Source Content Management',
    assets: () => ['/media/system/js/core.min.js', '/media/vendor/joomla-custom-elements/js/joomla-alert.min.js'],
  },
  {
    id: 'nextjs',
    weight: 6,
    isPhp: false,
    headers: { 'x-powered-by': 'Next.js' },
    assets: (m) => [
      `/_next/static/chunks/main-${m.hex('next', 16)}.js`,
      `/_next/static/${m.code('next', 21)}/_buildManifest.js`,
    ],
    body: () => '<div id="__next"></div><script id="__NEXT_DATA__" type="application/json">{"props":{}}</script>',
  },
  {
    id: 'ghost',
    weight: 2,
    isPhp: false,
    generator: (m) => `Ghost 5.${m.number('gh', 20, 90)}`,
    assets: () => ['/assets/built/source.js', '/public/cards.min.js'],
  },
  {
    id: 'shopify',
    weight: 0,
    isPhp: false,
    cookies: ['_shopify_y', '_shopify_s'],
    assets: (m) => [`https://cdn.shopify.com/s/files/1/${m.number('shopfile', 1000, 9999)}/t/1/assets/theme.js`],
    body: () => '<div id="shopify-section-header" class="shopify-section"></div>',
  },
  {
    id: 'squarespace',
    weight: 0,
    isPhp: false,
    cookies: ['crumb'],
    assets: () => [
      'https://static1.squarespace.com/static/vta/scripts/site-bundle.js',
      'https://assets.squarespace.com/universal/scripts-compressed/common.js',
    ],
    body: () => '<!-- This is Squarespace. -->',
  },
  {
    id: 'wix',
    weight: 0,
    isPhp: false,
    generator: () => 'Wix.com Website Builder',
    assets: () => [
      'https://static.parastorage.com/services/wix-thunderbolt/dist/main.js',
      'https://static.wixstatic.com/media/logo.png',
    ],
  },
  {
    id: 'webflow',
    weight: 0,
    isPhp: false,
    generator: () => 'Webflow',
    assets: (m) => [`https://cdn.prod.website-files.com/${m.hex('wf', 24)}/js/webflow.js`],
    htmlAttributes: (m) => `data-wf-site="${m.hex('wf', 24)}" data-wf-page="${m.hex('wfp', 24)}"`,
  },
  {
    id: 'hubspot',
    weight: 0,
    isPhp: false,
    generator: () => 'HubSpot',
    assets: (m) => [
      `https://${m.number('hs-portal', 200000, 24999999)}.fs1.hubspotusercontent-na1.net/hub/module.js`,
      '/hs/hsstatic/HubspotToolsMenu/static-1.1/js/index.js',
    ],
    body: () => '<div class="hs-menu-wrapper" data-hs-cos-type="module"></div>',
  },
];

/** Server software, in the builds that are in use. */
export const servers: readonly {
  readonly id: string;
  readonly weight: number;
  readonly builds: readonly ServerBuild[];
}[] = [
  { id: 'nginx', weight: 52, builds: nginxBuilds },
  { id: 'apache', weight: 34, builds: apacheBuilds },
  { id: 'microsoft-iis', weight: 7, builds: iisBuilds },
  { id: 'litespeed', weight: 7, builds: liteSpeedBuilds },
];
