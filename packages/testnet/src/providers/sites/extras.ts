// Secondary parts of a stack: services loaded by a page, forged headers, resellers, rented servers, domain sellers.
import type { Mint } from '../../random.ts';
import { names, type ProviderName } from '../template.ts';

/** A service whose script, style or frame is on the page. */
export interface WidgetTemplate {
  readonly id: string;
  readonly weight: number;
  readonly asset: (mint: Mint) => string;
  /** The software of the file, if the service only delivers it. */
  readonly delivers?: string;
}

const widget = (id: string, weight: number, asset: WidgetTemplate['asset'], delivers?: string): WidgetTemplate => ({
  id,
  weight,
  asset,
  ...(delivers ? { delivers } : {}),
});

export const widgets: readonly WidgetTemplate[] = [
  widget(
    'google-tag-manager',
    60,
    (m) => `https://www.googletagmanager.com/gtm.js?id=GTM-${m.code('gtm', 7).toUpperCase()}`,
  ),
  widget('google-analytics', 40, () => 'https://www.google-analytics.com/analytics.js'),
  widget('google-fonts', 40, () => 'https://fonts.googleapis.com/css2?family=Inter'),
  widget('jsdelivr', 16, () => 'https://cdn.jsdelivr.net/npm/swiper@11/swiper-bundle.min.js', 'swiper'),
  widget('cdnjs', 14, () => 'https://cdnjs.cloudflare.com/ajax/libs/gsap/3.12.5/gsap.min.js', 'gsap'),
  widget('cookiebot', 12, (m) => `https://consent.cookiebot.com/${m.hex('cb', 8)}/cd.js`),
  widget('hotjar', 12, (m) => `https://static.hotjar.com/c/hotjar-${m.number('hj', 100000, 4999999)}.js?sv=6`),
  widget('typekit', 8, (m) => `https://use.typekit.net/${m.code('tk', 7).toLowerCase()}.js`),
  widget('unpkg', 6, () => 'https://unpkg.com/aos@2.3.4/dist/aos.js', 'aos'),
  widget('usercentrics', 6, () => 'https://app.usercentrics.eu/browser-ui/latest/loader.js'),
  widget('sentry', 5, (m) => `https://js.sentry-cdn.com/${m.hex('sentry', 32)}.min.js`),
  widget('plausible', 4, () => 'https://plausible.io/js/script.js'),
  widget('crisp', 4, () => 'https://client.crisp.chat/l.js'),
  widget('tawk', 4, (m) => `https://embed.tawk.to/${m.hex('tawk', 24)}/default`),
  widget('livechat', 3, () => 'https://cdn.livechatinc.com/tracking.js'),
  widget('optimizely', 3, (m) => `https://cdn.optimizely.com/js/${m.number('opt', 1000000000, 2999999999)}.js`),
  widget('amplitude', 3, () => 'https://cdn.amplitude.com/libs/analytics-browser-2.11.1-min.js.gz'),
  widget('mixpanel', 3, () => 'https://cdn.mxpnl.com/libs/mixpanel-2-latest.min.js'),
];

/** Misleading `Server` headers: decoys, jokes, and products that are not there. */
export const forgedServers = [
  'Microsoft-IIS/6.0',
  'cloudflare',
  'Apache/1.3.27',
  'gws',
  'none of your business',
  'CERN/3.0',
];

/** A reseller's SPF record that covers every service its customers might use. */
export const resellers: readonly {
  readonly host: string;
  readonly includes: readonly string[];
  readonly network: string;
}[] = [
  {
    host: '_spf.nordwall-mailcloud.de',
    includes: ['spf.protection.outlook.com', 'sendgrid.net'],
    network: 'telekom',
  },
  {
    host: 'spf.tidewater-managed.net',
    includes: ['spf.protection.outlook.com', '_spf.google.com', 'servers.mcsv.net'],
    network: 'comcast',
  },
];

/** A mail server on a rented machine: the exchange has the machine's own name. */
export const rentedServers: readonly {
  readonly suffix: string;
  readonly network: string;
  readonly label: (mint: Mint) => string;
}[] = [
  { suffix: 'secureserver.net', network: 'godaddy', label: (m) => `s${dashed(m)}` },
  {
    suffix: 'ip.secureserver.net',
    network: 'godaddy',
    label: (m) => `${m.number('vps', 1, 223)}.${m.number('vps2', 1, 250)}.20.104.host`,
  },
  { suffix: 'vps.ovh.net', network: 'ovhcloud', label: (m) => `vps-${m.hex('vps', 8)}` },
  { suffix: 'clients.your-server.de', network: 'hetzner', label: (m) => `static.${dashed(m).replaceAll('-', '.')}` },
  {
    suffix: 'members.linode.com',
    network: 'linode',
    label: (m) => `li${m.number('vps', 10, 2000)}-${m.number('vps2', 1, 250)}`,
  },
  { suffix: 'eu-central-1.compute.amazonaws.com', network: 'amazon', label: (m) => `ec2-${dashed(m)}` },
  { suffix: 'contaboserver.net', network: 'telekom', label: (m) => `vmi${m.number('vps', 100000, 2999999)}` },
  { suffix: 'stratoserver.net', network: 'telekom', label: (m) => `h${m.number('vps', 1000000, 2999999)}` },
  { suffix: 'hstgr.cloud', network: 'hostinger', label: (m) => `srv${m.number('vps', 100000, 999999)}` },
  { suffix: 'vultrusercontent.com', network: 'vultr', label: (m) => `${dashed(m).replaceAll('-', '.')}` },
];

const dashed = (m: Mint) => [1, 2, 3, 4].map((n) => m.number(`octet-${n}`, 1, 250)).join('-');

/** Name servers that a reseller brands and another company runs. */
export const whiteLabels: readonly { readonly zone: string; readonly dns: string }[] = [
  { zone: 'nordwall-dns.de', dns: 'cloudns' },
  { zone: 'tidewater-names.net', dns: 'dnsimple' },
  { zone: 'valserre-dns.fr', dns: 'google-cloud-dns' },
];

/** Services whose aliases remain in a zone after the account is closed. */
export const abandoned = ['azurewebsites.net', 'herokudns.com', 'github.io', 'cloudfront.net'];
/** First label of every alias that its service no longer knows. */
export const ABANDONED_LABEL = 'gone-';

/** The page or redirect of a name for sale, by parking provider. */
export const sellers: Readonly<Record<string, { readonly asset: string; readonly offer: (domain: string) => string }>> =
  {
    sedo: {
      asset: 'https://img.sedoparking.com/templates/brick_gfx/common/logo_white.png',
      offer: (d) => `https://sedo.com/search/details/?domain=${d}`,
    },
    afternic: {
      asset: 'https://img1.wsimg.com/parking-lander/static/js/main.js',
      offer: (d) => `https://www.afternic.com/forsale/${d}`,
    },
    bodis: { asset: 'https://parking.bodiscdn.com/js/parking.js', offer: (d) => `https://www.bodis.com/inquiry/${d}` },
    parkingcrew: {
      asset: 'https://d38psrni17bvxu.cloudfront.net/themes/registrar/style.css',
      offer: (d) => `https://www.parkingcrew.net/sale_form.php?domain_name=${d}`,
    },
    dan: { asset: 'https://cdn0.dan.com/assets/landing.js', offer: (d) => `https://dan.com/buy-domain/${d}` },
  };

/** Registrars that serve a page of their own until there is a site. */
export const holders: Readonly<Record<string, { readonly title: string; readonly asset: string }>> = {
  godaddy: { title: 'Launching Soon', asset: 'https://img1.wsimg.com/parking-lander/static/js/main.js' },
  ionos: { title: 'Here a new website is being created', asset: 'https://ce1.uicdn.net/exos/fonts/open-sans.css' },
  namecheap: {
    title: 'Registrant WHOIS contact information verification',
    asset: 'https://files.namecheap.com/parking/style.css',
  },
  hostinger: { title: 'Parked Domain name on Hostinger DNS system', asset: '/htdocs/hostinger-logo.png' },
  ovhcloud: { title: 'Site en construction', asset: '/__ovh/common/css/style.css' },
  gandi: { title: 'This domain name is registered with Gandi.net', asset: 'https://www.gandi.net/static/parking.css' },
};

export const extraNames: readonly ProviderName[] = [
  ...resellers.map(({ host, includes, network }) => ({
    suffix: host,
    network,
    has: ['host'] as const,
    text: `v=spf1 ${includes.map((each) => `include:${each}`).join(' ')} ~all`,
  })),
  ...rentedServers.flatMap(({ suffix, network }) => names(network, ['host'], suffix)),
  ...names('amazon-accelerator', ['host'], 'sedo.com', 'www.afternic.com', 'www.bodis.com', 'www.parkingcrew.net'),
];
