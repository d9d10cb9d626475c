// Hosting providers: addresses, www aliases and private headers.
import type { NetworkRef } from '../../dns/networks.ts';
import type { Mint } from '../../random.ts';
import { names, type ProviderName, type Revealed } from '../template.ts';

export interface HostingTemplate {
  readonly id: string;
  readonly weight: number;
  readonly network: NetworkRef;
  /** Its addresses are in other companies' networks. */
  readonly isScattered?: true;
  /** The provider's published address for every customer's apex, if it has one. */
  readonly apex?: readonly string[];
  /** Aliases of `www`. Without: www has the apex's address. */
  readonly www?: (mint: Mint) => readonly string[];
  /** Headers that only this provider sends; CDNs pass them on. */
  readonly headers?: (mint: Mint) => Readonly<Record<string, string>>;
  /** `server` header, replacing the software's. */
  readonly server?: string;
  /** Platforms that run here; any if not given. */
  readonly platforms?: readonly string[];
  /** CAs of this provider's certificates; any if not given. */
  readonly issuers?: readonly string[];
  /** Further providers that its records and headers reveal: its underlying network, its own CDN. */
  readonly also?: readonly Revealed[];
  readonly names: readonly ProviderName[];
}

const LE = ['lets-encrypt'];
const AWS_BELOW = [{ category: 'hosting', provider: 'amazon-web-services' }];
const CLOUDFLARE_BELOW = [{ category: 'cdn', provider: 'cloudflare' }];
const FASTLY_BELOW = [{ category: 'cdn', provider: 'fastly' }];
const itself = (provider: string) => [{ category: 'web_platform', provider }];

/** `hosts` are the suffixes of the names that customers' aliases lead to. */
const service = (
  id: string,
  weight: number,
  network: string,
  hosts: string,
  more: Omit<HostingTemplate, 'id' | 'weight' | 'network' | 'names'>,
): HostingTemplate => ({ id, weight, network, names: names(network, ['host'], ...hosts.split(' ')), ...more });

/** Rented servers and clouds: identified only by the network and sometimes an alias. */
const clouds: readonly HostingTemplate[] = [
  service('amazon-web-services', 120, 'amazon', 'elb.amazonaws.com', {
    www: (m) =>
      m.number('elb', 0, 1)
        ? [`${m.brand}-${m.number('elb-id', 100000000, 1999999999)}.eu-central-1.elb.amazonaws.com`]
        : [],
  }),
  { id: 'google-cloud', weight: 52, network: 'google-cloud', names: [] },
  service('microsoft-azure', 44, 'microsoft', 'azurewebsites.net', {
    www: (m) => [`${m.brand}-web.azurewebsites.net`],
  }),
  { id: 'ovhcloud', weight: 44, network: 'ovhcloud', names: [] },
  { id: 'hetzner', weight: 42, network: 'hetzner', names: [] },
  { id: 'digitalocean', weight: 40, network: 'digitalocean', names: [] },
  { id: 'godaddy', weight: 34, network: 'godaddy', issuers: ['godaddy-ca'], names: [] },
  { id: 'ionos', weight: 32, network: 'ionos', names: [] },
  { id: 'hostinger', weight: 24, network: 'hostinger', issuers: LE, names: [] },
  { id: 'namecheap', weight: 18, network: 'namecheap', issuers: ['sectigo'], names: [] },
  { id: 'linode', weight: 18, network: 'linode', names: [] },
  { id: 'vultr', weight: 12, network: 'vultr', names: [] },
  { id: 'scaleway', weight: 10, network: 'scaleway', names: [] },
];

/** Services with an alias or a header of their own. */
const services: readonly HostingTemplate[] = [
  service('shopify', 38, 'shopify', 'myshopify.com', {
    apex: ['23.227.38.65'],
    www: () => ['shops.myshopify.com'],
    headers: (m) => ({
      'powered-by': 'Shopify',
      'x-shopid': String(m.number('shop', 1000000, 80000000)),
      'x-sorting-hat-shopid': String(m.number('shop', 1000000, 80000000)),
    }),
    platforms: ['shopify'],
    issuers: LE,
    also: CLOUDFLARE_BELOW,
  }),
  service('squarespace', 30, 'squarespace', 'ext-cust.squarespace.com', {
    apex: ['198.185.159.144', '198.185.159.145', '198.49.23.144', '198.49.23.145'],
    www: () => ['ext-cust.squarespace.com'],
    server: 'Squarespace',
    headers: (m) => ({ 'x-contextid': `${m.code('sq', 8)}/${m.code('sqb', 8)}` }),
    platforms: ['squarespace'],
    issuers: LE,
    also: itself('squarespace'),
  }),
  service('wix', 30, 'wix', 'cdn1.wixdns.net cdn2.wixdns.net cdn3.wixdns.net', {
    apex: ['185.230.63.107', '185.230.63.171', '185.230.63.186'],
    www: (m) => [`cdn${m.number('wixcdn', 1, 3)}.wixdns.net`],
    server: 'Pepyaka',
    headers: (m) => ({ 'x-wix-request-id': `${m.number('wix', 1000000000, 4000000000)}.${m.hex('wix', 12)}` }),
    platforms: ['wix'],
    issuers: ['lets-encrypt', 'sectigo'],
    also: itself('wix'),
  }),
  service('vercel', 28, 'vercel', 'cname.vercel-dns.com', {
    apex: ['76.76.21.21'],
    www: () => ['cname.vercel-dns.com'],
    server: 'Vercel',
    headers: (m) => ({
      'x-vercel-id': `fra1::${m.code('vid', 5).toLowerCase()}-${m.number('vid', 1700000000, 1799999999)}-${m.hex('vid', 12)}`,
      'x-vercel-cache': 'HIT',
    }),
    platforms: ['nextjs', 'nextjs', 'static'],
    issuers: LE,
    also: AWS_BELOW,
  }),
  service('netlify', 18, 'amazon-accelerator', 'netlify.app', {
    apex: ['75.2.60.5'],
    www: (m) => [`${m.brand}.netlify.app`],
    server: 'Netlify',
    headers: (m) => ({ 'x-nf-request-id': `01${m.code('nf', 24).toUpperCase()}` }),
    platforms: ['static'],
    issuers: LE,
    also: AWS_BELOW,
  }),
  service('webflow', 18, 'amazon-accelerator', 'proxy-ssl.webflow.com', {
    apex: ['75.2.70.75'],
    www: () => ['proxy-ssl.webflow.com'],
    headers: () => ({ 'x-wf-region': 'eu-west-1' }),
    platforms: ['webflow'],
    issuers: LE,
    also: [...AWS_BELOW, ...itself('webflow')],
  }),
  service('wp-engine', 18, 'google-cloud', 'wpengine.com', {
    www: (m) => [`${m.brand}.wpengine.com`],
    headers: () => ({ 'x-powered-by': 'WP Engine', 'x-cacheable': 'SHORT' }),
    platforms: ['wordpress'],
    issuers: LE,
    also: [{ category: 'hosting', provider: 'google-cloud' }],
  }),
  service('wordpress-com', 16, 'automattic', 'wordpress.com', {
    apex: ['192.0.78.24', '192.0.78.25'],
    www: (m) => [`${m.brand}blog.wordpress.com`],
    server: 'nginx',
    headers: () => ({ 'x-ac': '2.fra _dfw MISS', 'host-header': 'WordPress.com' }),
    platforms: ['wordpress'],
    issuers: LE,
    also: [...itself('wordpress-com'), { category: 'web_platform', provider: 'nginx' }],
  }),
  service('github-pages', 14, 'github-pages', 'github.io', {
    apex: ['185.199.108.153', '185.199.109.153', '185.199.110.153', '185.199.111.153'],
    www: (m) => [`${m.brand}.github.io`],
    server: 'GitHub.com',
    headers: (m) => ({ 'x-github-request-id': m.hex('gh', 20).toUpperCase() }),
    platforms: ['static'],
    issuers: LE,
    also: FASTLY_BELOW,
  }),
  service('heroku', 13, 'amazon-east', 'herokudns.com', {
    www: (m) => [`${m.code('heroku', 14).toLowerCase()}.herokudns.com`],
    server: 'Heroku',
    headers: () => ({ via: '1.1 vegur' }),
    platforms: ['static', 'ghost', 'nextjs'],
    issuers: LE,
    also: AWS_BELOW,
  }),
  service('kinsta', 10, 'kinsta', 'kinsta.cloud', {
    www: (m) => [`${m.brand}.kinsta.cloud`],
    headers: () => ({ 'x-kinsta-cache': 'HIT', 'ki-edge': 'v=20.2.7' }),
    platforms: ['wordpress'],
    issuers: ['google-trust-services'],
    also: CLOUDFLARE_BELOW,
  }),
  service('pantheon', 9, 'pantheon', 'pantheonsite.io', {
    apex: ['23.185.0.2'],
    www: (m) => [`live-${m.brand}.pantheonsite.io`],
    headers: (m) => ({
      'x-pantheon-styx-hostname': `styx-fe1-a-${m.hex('styx', 10)}`,
      'x-styx-req-id': m.hex('styxr', 32),
    }),
    platforms: ['drupal', 'wordpress'],
    issuers: LE,
    also: FASTLY_BELOW,
  }),
  service('render', 8, 'render', 'onrender.com', {
    apex: ['216.24.57.1'],
    www: (m) => [`${m.brand}.onrender.com`],
    headers: (m) => ({ 'x-render-origin-server': 'Render', 'rndr-id': `${m.hex('rndr', 8)}-${m.hex('rndr2', 4)}` }),
    platforms: ['static', 'nextjs'],
    issuers: ['google-trust-services', 'lets-encrypt'],
    also: CLOUDFLARE_BELOW,
  }),
  service('flywheel', 7, 'google-cloud', 'flywheelsites.com', {
    www: (m) => [`${m.brand}.flywheelsites.com`],
    server: 'Flywheel/5.1.0',
    headers: (m) => ({ 'x-fw-hash': m.code('fw', 10).toLowerCase(), 'x-fw-serve': 'TRUE' }),
    platforms: ['wordpress'],
    issuers: LE,
    also: [{ category: 'hosting', provider: 'google-cloud' }],
  }),
  service('hubspot', 9, 'hubspot', 'sites.hubspot.net', {
    www: (m) => [`${m.number('hs-portal', 200000, 24999999)}.group${m.number('hsg', 0, 49)}.sites.hubspot.net`],
    headers: (m) => ({
      'x-hs-hub-id': String(m.number('hs-portal', 200000, 24999999)),
      'x-hs-content-id': String(m.number('hsc', 10000000, 99999999)),
    }),
    platforms: ['hubspot'],
    issuers: ['google-trust-services'],
    also: CLOUDFLARE_BELOW,
  }),
];

export const hostingProviders: readonly HostingTemplate[] = [...clouds, ...services];
