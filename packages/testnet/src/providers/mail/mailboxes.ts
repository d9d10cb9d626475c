// Mailbox providers, forwarders and mail gateways, with the records that customers publish for each.
import type { NetworkId } from '../../dns/networks.ts';
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

function simple(
  id: string,
  weight: number,
  network: NetworkId,
  mx: readonly Exchange[],
  options: {
    zone: string;
    spf: string;
    customer?: MailTemplate['customer'];
    txt?: MailTemplate['txt'];
    more?: ProviderName[];
  },
): MailTemplate {
  const spfHost = options.spf.replace(/^(?:include:|redirect=)/, '');
  return {
    id,
    weight,
    mx: () => mx,
    spf: () => options.spf,
    names: [
      ...names(network, ['host'], options.zone),
      ...names(network, ['host', 'spf'], spfHost),
      ...(options.more ?? []),
    ],
    ...(options.customer ? { customer: options.customer } : {}),
    ...(options.txt ? { txt: options.txt } : {}),
  };
}

export const mailboxes: readonly MailTemplate[] = [
  {
    id: 'google-workspace',
    weight: 225,
    mx: (m) =>
      m.number('google-mx', 0, 3) === 0
        ? [[1, 'smtp.google.com']]
        : [
            [1, 'aspmx.l.google.com'],
            [5, 'alt1.aspmx.l.google.com'],
            [5, 'alt2.aspmx.l.google.com'],
            [10, 'alt3.aspmx.l.google.com'],
            [10, 'alt4.aspmx.l.google.com'],
          ],
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
      {
        label: 'selector1._domainkey',
        cname: `selector1-${m.slug}._domainkey.${m.brand}${m.hex('tenant', 3)}.onmicrosoft.com`,
      },
      {
        label: 'selector2._domainkey',
        cname: `selector2-${m.slug}._domainkey.${m.brand}${m.hex('tenant', 3)}.onmicrosoft.com`,
      },
      { label: 'autodiscover', cname: 'autodiscover.outlook.com' },
    ],
    hasHint: true,
    names: [
      ...names('microsoft-mail', ['host'], 'mail.protection.outlook.com', 'mx.microsoft', 'autodiscover.outlook.com'),
      ...names('microsoft-mail', ['spf'], 'spf.protection.outlook.com'),
      ...names('microsoft-mail', ['dkim'], 'onmicrosoft.com'),
    ],
  },
  simple(
    'zoho-mail',
    32,
    'zoho',
    [
      [10, 'mx.zoho.com'],
      [20, 'mx2.zoho.com'],
      [50, 'mx3.zoho.com'],
    ],
    {
      zone: 'zoho.com',
      spf: 'include:zohomail.com',
      customer: (m) => [{ label: 'zmail._domainkey', txt: dkimKey(m, 'zoho-dkim') }],
    },
  ),
  simple(
    'ionos',
    30,
    'ionos',
    [
      [10, 'mx00.ionos.com'],
      [10, 'mx01.ionos.com'],
    ],
    { zone: 'ionos.com', spf: 'include:_spf-us.ionos.com' },
  ),
  simple(
    'godaddy',
    28,
    'godaddy',
    [
      [0, 'smtp.secureserver.net'],
      [10, 'mailstore1.secureserver.net'],
    ],
    {
      zone: 'secureserver.net',
      spf: 'include:secureserver.net',
    },
  ),
  simple(
    'namecheap',
    26,
    'namecheap',
    [
      [10, 'mx1.privateemail.com'],
      [10, 'mx2.privateemail.com'],
    ],
    {
      zone: 'privateemail.com',
      spf: 'include:spf.privateemail.com',
    },
  ),
  simple(
    'ovhcloud',
    26,
    'ovhcloud',
    [
      [1, 'mx0.mail.ovh.net'],
      [5, 'mx1.mail.ovh.net'],
      [50, 'mx2.mail.ovh.net'],
    ],
    {
      zone: 'mail.ovh.net',
      spf: 'include:mx.ovh.com',
    },
  ),
  simple(
    'hostinger',
    22,
    'hostinger',
    [
      [5, 'mx1.hostinger.com'],
      [10, 'mx2.hostinger.com'],
    ],
    {
      zone: 'hostinger.com',
      spf: 'include:_spf.mail.hostinger.com',
    },
  ),
  simple(
    'cloudflare-email-routing',
    20,
    'cloudflare',
    [
      [21, 'route1.mx.cloudflare.net'],
      [37, 'route2.mx.cloudflare.net'],
      [89, 'route3.mx.cloudflare.net'],
    ],
    {
      zone: 'mx.cloudflare.net',
      spf: 'include:_spf.mx.cloudflare.net',
    },
  ),
  simple(
    'proton-mail',
    18,
    'proton',
    [
      [10, 'mail.protonmail.ch'],
      [20, 'mailsec.protonmail.ch'],
    ],
    {
      zone: 'protonmail.ch',
      spf: 'include:_spf.protonmail.ch',
      txt: (m) => `protonmail-verification=${m.hex('proton', 40)}`,
      customer: (m) =>
        ['protonmail', 'protonmail2', 'protonmail3'].map((label) => ({
          label: `${label}._domainkey`,
          cname: `${label}.domainkey.d${m.code('proton-d', 52).toLowerCase()}.domains.proton.ch`,
        })),
      more: names('proton', ['dkim'], 'domains.proton.ch'),
    },
  ),
  simple(
    'icloud-mail',
    16,
    'apple',
    [
      [10, 'mx01.mail.icloud.com'],
      [10, 'mx02.mail.icloud.com'],
    ],
    {
      zone: 'mail.icloud.com',
      spf: 'include:icloud.com',
      customer: (m) => [{ label: 'sig1._domainkey', cname: `sig1.dkim.${m.domain}.at.icloudmailadmin.com` }],
      more: names('apple', ['dkim'], 'icloudmailadmin.com'),
    },
  ),
  simple(
    'fastmail',
    14,
    'fastmail',
    [
      [10, 'in1-smtp.messagingengine.com'],
      [20, 'in2-smtp.messagingengine.com'],
    ],
    {
      zone: 'messagingengine.com',
      spf: 'include:spf.messagingengine.com',
      customer: (m) =>
        ['fm1', 'fm2', 'fm3'].map((label) => ({
          label: `${label}._domainkey`,
          cname: `${label}.${m.domain}.dkim.fmhosted.com`,
        })),
      more: names('fastmail', ['dkim'], 'dkim.fmhosted.com'),
    },
  ),
  simple('yandex-360', 13, 'yandex', [[10, 'mx.yandex.net']], {
    zone: 'mx.yandex.net',
    spf: 'include:_spf.yandex.net',
  }),
  simple(
    'gandi',
    12,
    'gandi',
    [
      [10, 'spool.mail.gandi.net'],
      [50, 'fb.mail.gandi.net'],
    ],
    {
      zone: 'mail.gandi.net',
      spf: 'include:_mailcust.gandi.net',
    },
  ),
  simple(
    'rackspace-email',
    12,
    'rackspace',
    [
      [10, 'mx1.emailsrvr.com'],
      [20, 'mx2.emailsrvr.com'],
    ],
    {
      zone: 'emailsrvr.com',
      spf: 'include:emailsrvr.com',
    },
  ),
  simple(
    'improvmx',
    7,
    'amazon',
    [
      [10, 'mx1.improvmx.com'],
      [20, 'mx2.improvmx.com'],
    ],
    { zone: 'improvmx.com', spf: 'include:spf.improvmx.com' },
  ),
  simple(
    'forward-email',
    5,
    'digitalocean',
    [
      [0, 'mx1.forwardemail.net'],
      [0, 'mx2.forwardemail.net'],
    ],
    {
      zone: 'forwardemail.net',
      spf: 'include:spf.forwardemail.net',
    },
  ),
];

/** Hosters too small for any catalog: their customers' mail and web have addresses, but no identifiable provider. */
export const regionalHosters: readonly { readonly zone: string; readonly network: NetworkId }[] = [
  { zone: 'nordwall-hosting.de', network: 'telekom' },
  { zone: 'tidewater-isp.net', network: 'comcast' },
  { zone: 'millbrook-internet.co.uk', network: 'bt' },
  { zone: 'hebergement-valserre.fr', network: 'orange' },
  { zone: 'polderserver.nl', network: 'kpn' },
];

export const gateways: readonly MailTemplate[] = [
  {
    id: 'proofpoint',
    weight: 26,
    mx: (m) => {
      const id = `00${m.hex('pp', 6)}`;
      return m.number('pp-kind', 0, 3) === 0
        ? [
            [10, 'mx1-us1.ppe-hosted.com'],
            [10, 'mx2-us1.ppe-hosted.com'],
          ]
        : [
            [10, `mxa-${id}.gslb.pphosted.com`],
            [10, `mxb-${id}.gslb.pphosted.com`],
          ];
    },
    spf: (m) =>
      m.number('pp-kind', 0, 3) === 0 ? 'a:dispatch-us.ppe-hosted.com' : `include:spf-00${m.hex('pp', 6)}.pphosted.com`,
    names: [
      ...names('proofpoint', ['host', 'spf'], 'pphosted.com'),
      ...names('proofpoint', ['host'], 'ppe-hosted.com'),
    ],
  },
  {
    id: 'mimecast',
    weight: 22,
    mx: (m) => {
      const region = ['us', 'eu', 'de', 'au'][m.number('mc', 0, 3)] ?? 'us';
      return [
        [10, `${region}-smtp-inbound-1.mimecast.com`],
        [10, `${region}-smtp-inbound-2.mimecast.com`],
      ];
    },
    spf: (m) => `include:${['us', 'eu', 'de', 'au'][m.number('mc', 0, 3)] ?? 'us'}._netblocks.mimecast.com`,
    names: names('mimecast', ['host', 'spf'], 'mimecast.com'),
  },
  {
    id: 'barracuda',
    weight: 14,
    mx: (m) =>
      ['a', 'b'].map((x): Exchange => [10, `d${m.number('bar', 100000, 399999)}${x}.ess.barracudanetworks.com`]),
    spf: () => 'include:spf.ess.barracudanetworks.com',
    names: names('barracuda', ['host', 'spf'], 'ess.barracudanetworks.com'),
  },
  {
    id: 'cisco-secure-email',
    weight: 12,
    mx: (m) =>
      ['mx1', 'mx2'].map(
        (x): Exchange => [10, `${x}.hc${m.number('hc', 100, 9999)}-${m.number('hc2', 10, 99)}.iphmx.com`],
      ),
    spf: (m) => `exists:%{i}.spf.hc${m.number('hc', 100, 9999)}-${m.number('hc2', 10, 99)}.iphmx.com`,
    names: names('cisco', ['host'], 'iphmx.com'),
  },
  {
    id: 'hornetsecurity',
    weight: 9,
    mx: (_) => ['01', '02', '03', '04'].map((n, i): Exchange => [(i + 1) * 10, `mx${n}.hornetsecurity.com`]),
    spf: () => 'include:spf.hornetsecurity.com',
    names: names('hornetsecurity', ['host', 'spf'], 'hornetsecurity.com'),
  },
  {
    id: 'trend-micro',
    weight: 7,
    mx: (m) => [[10, `${m.slug}.in.tmes.trendmicro.com`]],
    spf: () => 'include:spf.tmes.trendmicro.com',
    names: names('amazon', ['host', 'spf'], 'tmes.trendmicro.com'),
  },
  {
    id: 'sophos',
    weight: 6,
    mx: (m) => {
      const region = ['eu-central-1', 'us-west-2'][m.number('so', 0, 1)] ?? 'us-west-2';
      return ['01', '02'].map((n): Exchange => [10, `mx-${n}-${region}.prod.hydra.sophos.com`]);
    },
    spf: () => 'include:_spf.prod.hydra.sophos.com',
    names: names('amazon', ['host', 'spf'], 'prod.hydra.sophos.com'),
  },
  {
    id: 'symantec',
    weight: 6,
    mx: (m) => {
      const n = m.number('ml', 1, 8);
      return [
        [10, `cluster${n}.eu.messagelabs.com`],
        [20, `cluster${n}a.eu.messagelabs.com`],
      ];
    },
    spf: () => 'include:spf.messagelabs.com',
    names: names('symantec', ['host', 'spf'], 'messagelabs.com'),
  },
];
