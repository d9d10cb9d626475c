// Mailbox providers, forwarders and mail gateways; services that send for a company, and those that process its DMARC reports.
import { readRows } from '../data.ts';
import type { Mint } from '../random.ts';
import { filled, names, type ProviderName, readTemplates } from './template.ts';

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

export interface SenderTemplate {
  readonly id: string;
  readonly weight: number;
  /** Host in the SPF record's include. */
  readonly spf: (mint: Mint) => string;
  readonly customer?: (mint: Mint) => readonly CustomerName[];
  readonly names: readonly ProviderName[];
}

/** Of a data file: `names` are pairs of kinds and a suffix, `mx` is `10 mx1.example.com, 20 mx2.example.com`. */
type Row<Template> = Omit<Template, 'mx' | 'names'> & {
  readonly network: string;
  readonly names: readonly (readonly [kinds: string, suffix: string])[];
};
type MailRow = Row<MailTemplate> & { readonly mx: (mint: Mint) => string };

function named<Template>({ network, names: pairs, ...row }: Row<Template>) {
  const named = pairs.flatMap(([kinds, suffix]) => names(network, kinds.split(' ') as ProviderName['has'], suffix));
  return { ...row, names: named };
}

const mailTemplates = (file: string): MailTemplate[] =>
  readTemplates<MailRow>(file, ['mx', 'spf', 'customer', 'txt']).map((row) => ({
    ...named<MailTemplate>(row),
    mx: (mint) => exchanges(row.mx(mint)),
  }));

/** The preference is 10 without one. */
function exchanges(text: string): readonly Exchange[] {
  return text.split(', ').map((each) => {
    const [host = '', preference = '10'] = each.split(' ').reverse();
    return [Number(preference), host];
  });
}

export const mailboxes: readonly MailTemplate[] = mailTemplates('mailboxes');
export const gateways: readonly MailTemplate[] = mailTemplates('gateways');
export const senders: readonly SenderTemplate[] = readTemplates<Row<SenderTemplate>>('senders', [
  'spf',
  'customer',
]).map(named<SenderTemplate>);

/** Providers of the mailbox table that only forward mail. */
export const FORWARDERS: ReadonlySet<string> = new Set(['cloudflare-email-routing', 'improvmx', 'forward-email']);

/** Hosters too small for any catalog: their customers' mail and web have addresses, but no identifiable provider. */
export const regionalHosters: readonly { readonly zone: string; readonly network: string }[] = [
  { zone: 'nordwall-hosting.de', network: 'telekom' },
  { zone: 'tidewater-isp.net', network: 'comcast' },
  { zone: 'millbrook-internet.co.uk', network: 'bt' },
  { zone: 'hebergement-valserre.fr', network: 'orange' },
  { zone: 'polderserver.nl', network: 'kpn' },
];

export interface ReportTemplate {
  readonly id: string;
  readonly weight: number;
  readonly address: (mint: Mint) => string;
  /** Hosted records for customers: the SPF term that refers there, and the target of the `_dmarc` alias. */
  readonly hosted?: { readonly spf: (mint: Mint) => string; readonly dmarc: (mint: Mint) => string };
  readonly names: readonly ProviderName[];
}

interface ReportRow extends Pick<ReportTemplate, 'id' | 'weight'> {
  readonly host: string;
  readonly mailbox: string;
  readonly hosted?: Readonly<Record<'spf' | 'spfZone' | 'dmarc' | 'dmarcZone', string>>;
}

const REPORT_NETWORK = 'amazon-east';

export const reportProcessors: readonly ReportTemplate[] = readRows<ReportRow>('reports').map(
  ({ id, weight, host, mailbox, hosted }) => {
    const own = names(REPORT_NETWORK, ['host', 'report'], host);
    const template = { id, weight, address: (mint: Mint) => `${filled(mailbox, mint)}@${host}` };
    if (!hosted) return { ...template, names: own };
    const { spf, spfZone, dmarc, dmarcZone } = hosted;
    // Hosted records have the same content for all customers.
    const text = `v=DMARC1; p=quarantine; rua=mailto:reports@${host}`;
    const alias = { suffix: dmarcZone, network: REPORT_NETWORK, has: [], text };
    return {
      ...template,
      names: [...own, ...names(REPORT_NETWORK, ['host', 'spf'], spfZone), alias],
      hosted: { spf: (mint) => filled(spf, mint), dmarc: (mint) => filled(dmarc, mint) },
    };
  },
);

/** SPF records of providers that include further records of their own, as some really do; all other records list addresses. */
const LEADING_ON: ReadonlyMap<string, string> = new Map([
  [
    '_spf.google.com',
    'v=spf1 include:_netblocks.google.com include:_netblocks2.google.com include:_netblocks3.google.com ~all',
  ],
  ['secureserver.net', 'v=spf1 include:spf-0.secureserver.net -all'],
  ['mailgun.org', 'v=spf1 include:_spf.mailgun.org include:_spf.eu.mailgun.org -all'],
  ['_spf.salesforce.com', 'v=spf1 exists:%{i}._spf.mta.salesforce.com -all'],
]);

/** The special record of a name, if it has one. */
export const leadingSpf = (name: string): string | undefined => LEADING_ON.get(name);
