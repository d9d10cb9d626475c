// Mailbox providers, forwarders and mail gateways, with the records that customers publish for each.
import type { Mint } from '../../random.ts';
import { names, type ProviderName } from '../template.ts';

export type Exchange = readonly [preference: number, host: string];

/** A name under the customer's domain: an alias (`cname`) or a text (`txt`). */
export interface CustomerName {
  readonly label: string;
  readonly cname?: string;
  readonly txt?: string;
}

export interface MailTemplate {
  readonly id: string;
  readonly weight: number;
  readonly mx: (mint: Mint) => readonly Exchange[];
  /** SPF mechanism, `include:_spf.google.com`. */
  readonly spf?: (mint: Mint) => string;
  readonly customer?: (mint: Mint) => readonly CustomerName[];
  /** Apex TXT proving the account. */
  readonly txt?: (mint: Mint) => string;
  /** Aliases in `customer` reveal the mailbox even behind a gateway. */
  readonly hasHint?: true;
  readonly names: readonly ProviderName[];
}

/** Providers of the mailbox table that only forward mail. */
export const FORWARDERS: ReadonlySet<string> = new Set(['cloudflare-email-routing', 'improvmx', 'forward-email']);

export const dkimKey = (mint: Mint, purpose: string) =>
  `v=DKIM1; k=rsa; p=MIGfMA0GCSqGSIb3DQEBAQUAA4GNADCBiQ${mint.code(purpose, 180)}IDAQAB`;

/** Exchanges as `10 mx1.example.com, 20 mx2.example.com`; 10 if it has no preference. */
function exchanges(text: string): readonly Exchange[] {
  return text.split(', ').map((each) => {
    const [host = '', preference = '10'] = each.split(' ').reverse();
    return [Number(preference), host];
  });
}

/** The same exchanges for every customer, in one zone, and an SPF record of its own. */
function simple(
  id: string,
  weight: number,
  network: string,
  {
    mx,
    zone,
    spf,
    more = [],
    ...rest
  }: Pick<MailTemplate, 'customer' | 'txt'> & {
    readonly mx: string;
    readonly zone: string;
    readonly spf: string;
    readonly more?: readonly ProviderName[];
  },
): MailTemplate {
  return {
    ...{ id, weight, mx: () => exchanges(mx), spf: () => `include:${spf}` },
    names: [...names(network, ['host'], zone), ...names(network, ['host', 'spf'], spf), ...more],
    ...rest,
  };
}

export const mailboxes: readonly MailTemplate[] = [
  {
    id: 'google-workspace',
    weight: 225,
    mx: (m) =>
      exchanges(
        m.number('google-mx', 0, 3) === 0
          ? '1 smtp.google.com'
          : '1 aspmx.l.google.com, 5 alt1.aspmx.l.google.com, 5 alt2.aspmx.l.google.com, 10 alt3.aspmx.l.google.com, 10 alt4.aspmx.l.google.com',
      ),
    spf: () => 'include:_spf.google.com',
    customer: (m) => [{ label: 'google._domainkey', txt: dkimKey(m, 'google-dkim') }],
    names: [
      ...names('google', ['host'], 'aspmx.l.google.com', 'smtp.google.com'),
      ...names('google', ['spf'], '_spf.google.com'),
      ...names('google', ['spf'], '_netblocks.google.com', '_netblocks2.google.com', '_netblocks3.google.com'),
    ],
  },
  {
    id: 'microsoft-365',
    weight: 180,
    mx: (m) =>
      m.number('ms-mx', 0, 7) === 0
        ? [[0, `${m.slug}.${m.code('ms-pool', 1).toLowerCase()}-v1.mx.microsoft`]]
        : [[0, `${m.slug}.mail.protection.outlook.com`]],
    spf: () => 'include:spf.protection.outlook.com',
    customer: (m) => [
      ...['selector1', 'selector2'].map((selector) => ({
        label: `${selector}._domainkey`,
        cname: `${selector}-${m.slug}._domainkey.${m.brand}${m.hex('tenant', 3)}.onmicrosoft.com`,
      })),
      { label: 'autodiscover', cname: 'autodiscover.outlook.com' },
    ],
    hasHint: true,
    names: [
      ...names('microsoft-mail', ['host'], 'mail.protection.outlook.com', 'mx.microsoft', 'autodiscover.outlook.com'),
      ...names('microsoft-mail', ['spf'], 'spf.protection.outlook.com'),
      ...names('microsoft-mail', ['dkim'], 'onmicrosoft.com'),
    ],
  },
  simple('zoho-mail', 32, 'zoho', {
    mx: '10 mx.zoho.com, 20 mx2.zoho.com, 50 mx3.zoho.com',
    zone: 'zoho.com',
    spf: 'zohomail.com',
    customer: (m) => [{ label: 'zmail._domainkey', txt: dkimKey(m, 'zoho-dkim') }],
  }),
  simple('ionos', 30, 'ionos', {
    mx: 'mx00.ionos.com, mx01.ionos.com',
    zone: 'ionos.com',
    spf: '_spf-us.ionos.com',
  }),
  simple('godaddy', 28, 'godaddy', {
    mx: '0 smtp.secureserver.net, 10 mailstore1.secureserver.net',
    zone: 'secureserver.net',
    spf: 'secureserver.net',
  }),
  simple('namecheap', 26, 'namecheap', {
    mx: '10 mx1.privateemail.com, 10 mx2.privateemail.com',
    zone: 'privateemail.com',
    spf: 'spf.privateemail.com',
  }),
  simple('ovhcloud', 26, 'ovhcloud', {
    mx: '1 mx0.mail.ovh.net, 5 mx1.mail.ovh.net, 50 mx2.mail.ovh.net',
    zone: 'mail.ovh.net',
    spf: 'mx.ovh.com',
  }),
  simple('hostinger', 22, 'hostinger', {
    mx: '5 mx1.hostinger.com, 10 mx2.hostinger.com',
    zone: 'hostinger.com',
    spf: '_spf.mail.hostinger.com',
  }),
  simple('cloudflare-email-routing', 20, 'cloudflare', {
    mx: '21 route1.mx.cloudflare.net, 37 route2.mx.cloudflare.net, 89 route3.mx.cloudflare.net',
    zone: 'mx.cloudflare.net',
    spf: '_spf.mx.cloudflare.net',
  }),
  simple('proton-mail', 18, 'proton', {
    mx: '10 mail.protonmail.ch, 20 mailsec.protonmail.ch',
    zone: 'protonmail.ch',
    spf: '_spf.protonmail.ch',
    txt: (m) => `protonmail-verification=${m.hex('proton', 40)}`,
    customer: (m) =>
      ['protonmail', 'protonmail2', 'protonmail3'].map((label) => ({
        label: `${label}._domainkey`,
        cname: `${label}.domainkey.d${m.code('proton-d', 52).toLowerCase()}.domains.proton.ch`,
      })),
    more: names('proton', ['dkim'], 'domains.proton.ch'),
  }),
  simple('icloud-mail', 16, 'apple', {
    mx: '10 mx01.mail.icloud.com, 10 mx02.mail.icloud.com',
    zone: 'mail.icloud.com',
    spf: 'icloud.com',
    customer: (m) => [{ label: 'sig1._domainkey', cname: `sig1.dkim.${m.domain}.at.icloudmailadmin.com` }],
    more: names('apple', ['dkim'], 'icloudmailadmin.com'),
  }),
  simple('fastmail', 14, 'fastmail', {
    mx: '10 in1-smtp.messagingengine.com, 20 in2-smtp.messagingengine.com',
    zone: 'messagingengine.com',
    spf: 'spf.messagingengine.com',
    customer: (m) =>
      ['fm1', 'fm2', 'fm3'].map((label) => ({
        label: `${label}._domainkey`,
        cname: `${label}.${m.domain}.dkim.fmhosted.com`,
      })),
    more: names('fastmail', ['dkim'], 'dkim.fmhosted.com'),
  }),
  simple('yandex-360', 13, 'yandex', { mx: '10 mx.yandex.net', zone: 'mx.yandex.net', spf: '_spf.yandex.net' }),
  simple('gandi', 12, 'gandi', {
    mx: '10 spool.mail.gandi.net, 50 fb.mail.gandi.net',
    zone: 'mail.gandi.net',
    spf: '_mailcust.gandi.net',
  }),
  simple('rackspace-email', 12, 'rackspace', {
    mx: '10 mx1.emailsrvr.com, 20 mx2.emailsrvr.com',
    zone: 'emailsrvr.com',
    spf: 'emailsrvr.com',
  }),
  simple('improvmx', 7, 'amazon', {
    mx: '10 mx1.improvmx.com, 20 mx2.improvmx.com',
    zone: 'improvmx.com',
    spf: 'spf.improvmx.com',
  }),
  simple('forward-email', 5, 'digitalocean', {
    mx: '0 mx1.forwardemail.net, 0 mx2.forwardemail.net',
    zone: 'forwardemail.net',
    spf: 'spf.forwardemail.net',
  }),
];

/** Hosters too small for any catalog: their customers' mail and web have addresses, but no identifiable provider. */
export const regionalHosters: readonly { readonly zone: string; readonly network: string }[] = [
  { zone: 'nordwall-hosting.de', network: 'telekom' },
  { zone: 'tidewater-isp.net', network: 'comcast' },
  { zone: 'millbrook-internet.co.uk', network: 'bt' },
  { zone: 'hebergement-valserre.fr', network: 'orange' },
  { zone: 'polderserver.nl', network: 'kpn' },
];

/** A gateway that listens at hosts below one suffix, where it also publishes its SPF records. */
const gateway = (
  id: string,
  weight: number,
  names: readonly ProviderName[],
  { mx, spf }: { readonly mx: (mint: Mint) => string; readonly spf: (mint: Mint) => string },
): MailTemplate => ({ id, weight, names, spf, mx: (m) => exchanges(mx(m)) });

const isProofpointEssentials = (m: Mint) => m.number('pp-kind', 0, 3) === 0;
const mimecastRegion = (m: Mint) => ['us', 'eu', 'de', 'au'][m.number('mc', 0, 3)] ?? 'us';
const sophosRegion = (m: Mint) => ['eu-central-1', 'us-west-2'][m.number('so', 0, 1)] ?? 'us-west-2';
const ciscoZone = (m: Mint) => `hc${m.number('hc', 100, 9999)}-${m.number('hc2', 10, 99)}.iphmx.com`;

export const gateways: readonly MailTemplate[] = [
  gateway(
    'proofpoint',
    26,
    [...names('proofpoint', ['host', 'spf'], 'pphosted.com'), ...names('proofpoint', ['host'], 'ppe-hosted.com')],
    {
      mx: (m) =>
        isProofpointEssentials(m)
          ? 'mx1-us1.ppe-hosted.com, mx2-us1.ppe-hosted.com'
          : `mxa-00${m.hex('pp', 6)}.gslb.pphosted.com, mxb-00${m.hex('pp', 6)}.gslb.pphosted.com`,
      spf: (m) =>
        isProofpointEssentials(m) ? 'a:dispatch-us.ppe-hosted.com' : `include:spf-00${m.hex('pp', 6)}.pphosted.com`,
    },
  ),
  gateway('mimecast', 22, names('mimecast', ['host', 'spf'], 'mimecast.com'), {
    mx: (m) => [1, 2].map((n) => `${mimecastRegion(m)}-smtp-inbound-${n}.mimecast.com`).join(', '),
    spf: (m) => `include:${mimecastRegion(m)}._netblocks.mimecast.com`,
  }),
  gateway('barracuda', 14, names('barracuda', ['host', 'spf'], 'ess.barracudanetworks.com'), {
    mx: (m) => ['a', 'b'].map((x) => `d${m.number('bar', 100000, 399999)}${x}.ess.barracudanetworks.com`).join(', '),
    spf: () => 'include:spf.ess.barracudanetworks.com',
  }),
  gateway('cisco-secure-email', 12, names('cisco', ['host'], 'iphmx.com'), {
    mx: (m) => `mx1.${ciscoZone(m)}, mx2.${ciscoZone(m)}`,
    spf: (m) => `exists:%{i}.spf.${ciscoZone(m)}`,
  }),
  gateway('hornetsecurity', 9, names('hornetsecurity', ['host', 'spf'], 'hornetsecurity.com'), {
    mx: () => [1, 2, 3, 4].map((n) => `${n * 10} mx0${n}.hornetsecurity.com`).join(', '),
    spf: () => 'include:spf.hornetsecurity.com',
  }),
  gateway('trend-micro', 7, names('amazon', ['host', 'spf'], 'tmes.trendmicro.com'), {
    mx: (m) => `${m.slug}.in.tmes.trendmicro.com`,
    spf: () => 'include:spf.tmes.trendmicro.com',
  }),
  gateway('sophos', 6, names('amazon', ['host', 'spf'], 'prod.hydra.sophos.com'), {
    mx: (m) => ['01', '02'].map((n) => `mx-${n}-${sophosRegion(m)}.prod.hydra.sophos.com`).join(', '),
    spf: () => 'include:_spf.prod.hydra.sophos.com',
  }),
  gateway('symantec', 6, names('symantec', ['host', 'spf'], 'messagelabs.com'), {
    mx: (m) => {
      const cluster = `cluster${m.number('ml', 1, 8)}`;
      return `10 ${cluster}.eu.messagelabs.com, 20 ${cluster}a.eu.messagelabs.com`;
    },
    spf: () => 'include:spf.messagelabs.com',
  }),
];
