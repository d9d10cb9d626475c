// A small catalog for tests: one provider for each kind of rule and each way of reading it wrong.
import { detect } from '../detect.ts';
import type { Category, Profile, Service } from '../profile.ts';
import { loadCatalog } from '../rulebook/load-catalog.ts';
import { compileRulebook, type Rulebook } from '../rulebook/rulebook.ts';
import { type EvidenceParts, evidenceOf } from './evidence-of.ts';

type Group = { category: Category } & Record<string, unknown>;

export function provider(id: string, ...rules: readonly Group[]): unknown {
  return { id, name: id.toUpperCase(), website: `https://${id}.example`, rules };
}

const GOOGLY_MX = ['aspmx.l.googly.test', 'alt*.aspmx.l.googly.test'];
const MICRO_NAMES = [
  { label: 'autodiscover', target: 'autodiscover.micro.test' },
  { label: 'selector1._domainkey', target: 'onmicro.test' },
];
const SENDY_NAMES = [{ label: 's1._domainkey', target: 'dkim.sendy.test' }];
const DEPLOY = [{ name: 'x-deploy-id' }, { name: 'server', value: 'Deploy' }];
const FORWARDING = { category: 'email_security', role: 'forwarding' } as const;
const REPORTING = { category: 'email_security', role: 'dmarc_reports' } as const;
const SALES = ['seller.test', 'frame.seller.test/park/'];
const serverOf = (value: string) => ({ name: 'server', value });
const BLOGGER_HEADERS = [
  { name: 'x-powered-by', value: 'Blogger', version: 'Blogger/' },
  { name: 'x-blogger', version: '' },
  { ...serverOf('Blogger/'), version: 'Blogger/' },
];

export const testEntries: readonly unknown[] = [
  // Mailboxes.
  provider('googly', { category: 'email', mx: GOOGLY_MX, spf: ['_spf.googly.test'], txt: ['googly-account='] }),
  provider('micro', { category: 'email', mx: ['mail.micro.test'], spf: ['spf.micro.test'], named: MICRO_NAMES }),
  provider('vpshost', { category: 'email', mailAsn: [64501] }),
  // Gateways, and a vendor that hosts records.
  provider('guard', { category: 'email_security', mx: ['guard.test'], spf: ['spf.guard.test'] }),
  provider('forwarder', { ...FORWARDING, mx: ['forwarder.test'], spf: ['_spf.forwarder.test'] }),
  provider('dmarcer', { ...REPORTING, spf: ['_spf.dmarcer.test'], dmarc: ['rua.dmarcer.test'] }),
  provider('sendy', { category: 'email_sending', spf: ['sendy.test'], named: SENDY_NAMES }),
  // Names.
  provider('dnsco', { category: 'dns', ns: ['dnsco.test'], soa: ['hostmaster.dnsco.test'], nsAsn: [64502] }),
  provider('awsdns', { category: 'dns', ns: ['*.awsdns-*.test'] }),
  provider('parker', { category: 'dns', ns: ['parker.test'], mx: ['mx.parker.test'], parking: true }),
  provider('seller', { category: 'web_platform', html: { asset: SALES }, parking: true }),
  // Web.
  provider(
    'edgy',
    { category: 'cdn', cname: ['edgy.test'], asn: [64496], header: [{ name: 'x-edgy-ray' }, serverOf('edgy')] },
    { category: 'hosting', cname: ['pages.edgy-host.test'] },
  ),
  provider('waffle', { category: 'security', cookie: ['waffle_ses_*'], header: [{ name: 'x-waffle' }] }),
  provider('cloudy', { category: 'hosting', asn: [64499], cname: ['cloudy.test'] }),
  provider('deploy', { category: 'hosting', cname: ['deploy.test'], header: DEPLOY }),
  provider('blogger', {
    ...{ category: 'web_platform', header: BLOGGER_HEADERS, cookie: ['blog_session'] },
    html: {
      generator: [{ start: 'Blogger', version: 'Blogger ' }],
      ...{ asset: ['/blog-content/', 'cdn.blogger.test'], marker: ['__blogger'] },
    },
  }),
  provider('tagman', { category: 'web_platform', html: { asset: ['tags.tagman.test/gtm.js'] } }),
  // Trust.
  provider('certy', { category: 'certificate_authority', tls: ['Certy'], caa: ['certy.test'] }),
  provider('signly', { category: 'certificate_authority', tls: ['Signly Trust'], caa: ['signly.test'] }),
  provider('socially', { category: 'verified_service', txt: ['socially-verification='] }),
  provider('helpdesk', { category: 'verified_service', named: [{ label: 'support', target: 'helpdesk.test' }] }),
];

export const testRulebook: Rulebook = compileRulebook(loadCatalog(testEntries));

/** `category provider level` of each service, for comparison at a glance. */
export const linesOf = (services: readonly Service[]): string[] =>
  services.map(({ category, provider: id, confidence }) => `${category} ${id} ${confidence}`);

export const profileOf = (parts: EvidenceParts): Profile => detect(evidenceOf(parts), testRulebook);

export const servicesOf = (parts: EvidenceParts): string => linesOf(profileOf(parts).services).join(', ');

/** Every label that the rulebook asks for, each of which does not exist. */
export const noLabels: Readonly<Record<string, 'nxdomain'>> = Object.fromEntries(
  testRulebook.probeLabels.map((label) => [label, 'nxdomain']),
);
