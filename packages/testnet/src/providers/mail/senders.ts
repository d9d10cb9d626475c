// Services that send on behalf of a company, and those that process its DMARC reports.
import type { Mint } from '../../random.ts';
import { names, type ProviderName } from '../template.ts';
import { type CustomerName, dkimKey } from './mailboxes.ts';

export interface SenderTemplate {
  readonly id: string;
  readonly weight: number;
  /** Host in the SPF record's include. */
  readonly spf: (mint: Mint) => string;
  readonly customer?: (mint: Mint) => readonly CustomerName[];
  readonly names: readonly ProviderName[];
}

function sender(
  id: string,
  weight: number,
  spf: string,
  options: { network?: string; customer?: SenderTemplate['customer']; dkim?: readonly string[] } = {},
): SenderTemplate {
  const network = options.network ?? 'amazon-east';
  return {
    id,
    weight,
    spf: () => spf,
    names: [...names(network, ['host', 'spf'], spf), ...names(network, ['dkim'], ...(options.dkim ?? []))],
    ...(options.customer ? { customer: options.customer } : {}),
  };
}

export const senders: readonly SenderTemplate[] = [
  sender('sendgrid', 60, 'sendgrid.net', {
    network: 'sendgrid',
    customer: (m) =>
      ['s1', 's2'].map((s) => ({
        label: `${s}._domainkey`,
        cname: `${s}.domainkey.u${m.number('sg', 100000, 9999999)}.wl${m.number('sgw', 10, 250)}.sendgrid.net`,
      })),
    dkim: ['sendgrid.net'],
  }),
  sender('mailchimp', 48, 'servers.mcsv.net', {
    network: 'mailchimp',
    customer: () => [
      { label: 'k2._domainkey', cname: 'dkim2.mcsv.net' },
      { label: 'k3._domainkey', cname: 'dkim3.mcsv.net' },
    ],
    dkim: ['dkim2.mcsv.net', 'dkim3.mcsv.net'],
  }),
  sender('amazon-ses', 42, 'amazonses.com'),
  sender('mailgun', 36, 'mailgun.org'),
  sender('salesforce', 30, '_spf.salesforce.com'),
  sender('zendesk', 26, 'mail.zendesk.com', {
    customer: () =>
      ['zendesk1', 'zendesk2'].map((s) => ({ label: `${s}._domainkey`, cname: `${s}._domainkey.zendesk.com` })),
    dkim: ['_domainkey.zendesk.com'],
  }),
  {
    id: 'hubspot',
    weight: 24,
    spf: (m) => `${m.number('hs-portal', 200000, 24999999)}.spf0${m.number('hs-pool', 1, 9)}.hubspotemail.net`,
    names: names('amazon-east', ['host', 'spf'], 'hubspotemail.net'),
  },
  sender('brevo', 20, 'spf.brevo.com'),
  sender('mandrill', 16, 'spf.mandrillapp.com', {
    network: 'mailchimp',
    customer: (m) => [{ label: 'mandrill._domainkey', txt: dkimKey(m, 'mandrill') }],
  }),
  sender('freshworks', 14, 'email.freshdesk.com'),
  sender('mailjet', 13, 'spf.mailjet.com', {
    customer: (m) => [{ label: 'mailjet._domainkey', txt: dkimKey(m, 'mailjet') }],
  }),
  sender('postmark', 12, 'spf.mtasv.net'),
  sender('atlassian', 11, '_spf.atlassian.net'),
  sender('constant-contact', 11, 'spf.constantcontact.com', {
    customer: () => [
      { label: 'ctct1._domainkey', cname: '100._domainkey.dkim1.ccsend.com' },
      { label: 'ctct2._domainkey', cname: '200._domainkey.dkim2.ccsend.com' },
    ],
    dkim: ['dkim1.ccsend.com', 'dkim2.ccsend.com'],
  }),
  sender('marketo', 10, 'mktomail.com'),
  sender('intercom', 9, 'spf.intercom.io', {
    customer: (m) => [
      { label: 'intercom._domainkey', cname: `${m.hex('intercom', 8)}-${m.hex('ic', 4)}.dkim.intercom.io` },
    ],
    dkim: ['dkim.intercom.io'],
  }),
  sender('sparkpost', 8, 'sparkpostmail.com'),
  sender('klaviyo', 8, 'klaviyomail.com', {
    customer: () => ['kl', 'kl2'].map((s) => ({ label: `${s}._domainkey`, cname: `${s}._domainkey.klaviyomail.com` })),
    dkim: ['_domainkey.klaviyomail.com'],
  }),
  sender('campaign-monitor', 7, '_spf.createsend.com', {
    customer: (m) => [{ label: 'cm._domainkey', txt: dkimKey(m, 'cm') }],
  }),
  sender('activecampaign', 7, 'emsd1.com', {
    customer: (m) => [{ label: 'acdkim1._domainkey', cname: `dkim.acdkim${m.number('ac', 1, 2)}.acems1.com` }],
    dkim: ['acems1.com'],
  }),
];

export interface ReportTemplate {
  readonly id: string;
  readonly weight: number;
  readonly address: (mint: Mint) => string;
  /** Hosted records for customers: the SPF term that refers there, and the target of the `_dmarc` alias. */
  readonly hosted?: { readonly spf: (mint: Mint) => string; readonly dmarc: (mint: Mint) => string };
  readonly names: readonly ProviderName[];
}

/** Hosted records have the same content for all customers. */
const HOSTED_DMARC = 'v=DMARC1; p=quarantine';

function reports(
  id: string,
  weight: number,
  host: string,
  mailbox: (mint: Mint) => string,
  hosted?: NonNullable<ReportTemplate['hosted']> & { readonly spfZone: string; readonly dmarcZone: string },
): ReportTemplate {
  const network = 'amazon-east';
  return {
    id,
    weight,
    address: (m) => `${mailbox(m)}@${host}`,
    names: [
      ...names(network, ['host', 'report'], host),
      ...(hosted
        ? [
            ...names(network, ['host', 'spf'], hosted.spfZone),
            {
              suffix: hosted.dmarcZone,
              network,
              has: [],
              text: `${HOSTED_DMARC}; rua=mailto:reports@${host}`,
            } as const,
          ]
        : []),
    ],
    ...(hosted ? { hosted } : {}),
  };
}

export const reportProcessors: readonly ReportTemplate[] = [
  reports('dmarcian', 14, 'ag.dmarcian.com', (m) => m.code('dmarcian', 8).toLowerCase()),
  reports('valimail', 13, 'vali.email', () => 'dmarc_agg', {
    spf: () => 'include:%{i}._ip.%{h}._ehlo.%{d}._spf.vali.email',
    spfZone: '_spf.vali.email',
    dmarc: (m) => `${m.slug}._dmarc.vali.email`,
    dmarcZone: '_dmarc.vali.email',
  }),
  reports('postmark', 10, 'dmarc.postmarkapp.com', (m) => `re+${m.code('pm', 12).toLowerCase()}`),
  reports('easydmarc', 10, 'rua.easydmarc.com', (m) => m.hex('easy', 10), {
    spf: (m) => `include:${m.slug}._spf.easydmarc.pro`,
    spfZone: '_spf.easydmarc.pro',
    dmarc: (m) => `${m.slug}._dmarc.easydmarc.pro`,
    dmarcZone: '_dmarc.easydmarc.pro',
  }),
  reports('agari', 8, 'rua.agari.com', (m) => m.slug),
  reports('powerdmarc', 6, 'rua.powerdmarc.com', (m) => m.hex('power', 8), {
    spf: (m) => `include:${m.slug}.powerspf.com`,
    spfZone: 'powerspf.com',
    dmarc: (m) => `${m.slug}._dmarc.powerdmarc.com`,
    dmarcZone: '_dmarc.powerdmarc.com',
  }),
  reports('ondmarc', 5, 'inbox.ondmarc.com', (m) => m.hex('ond', 8), {
    spf: (m) => `include:_u.${m.domain}._spf.smart.ondmarc.com`,
    spfZone: '_spf.smart.ondmarc.com',
    dmarc: (m) => `${m.domain}._dmarc.ondmarc.com`,
    dmarcZone: '_dmarc.ondmarc.com',
  }),
];
