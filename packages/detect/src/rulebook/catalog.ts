// The schema of the catalog. catalog/ has one entry for each provider.
import { z } from 'zod';
import { DomainRecord } from '../explain-record.ts';
import { CATEGORIES, ROLE_FACTS, ROLE_LIST } from '../profile.ts';
import { addressText, parseAddress } from '../ranges/ip-address.ts';
import { KINDS } from './kinds.ts';

const Id = z.string().regex(/^[a-z0-9]+(?:-[a-z0-9]+)*$/, 'lower-case words joined by single hyphens');

/**
 * A host pattern: a domain suffix matched on label boundaries (`pphosted.com`), or with `*` inside labels
 * (`*.awsdns-*.com`, `ns*.example.net`): each `*` stays within one label, a leading `*.` is implied.
 */
const HostPattern = z.string().regex(/^(?:[a-z0-9_*-]+\.)*[a-z0-9_*-]+$/, 'a lower-case host pattern');
const Hosts = z.array(HostPattern).min(1);
const Label = z.string().regex(/^[a-z0-9_-]+(?:\.[a-z0-9_-]+)*$/);
const Text = z.string().min(2).max(128);
const Texts = z.array(Text).min(1);
/**
 * The text before the version, in any case (`nginx/`), or '' if the value is the version. Only for complete versions: it
 * is unknown which release `Drupal 10` is, and an advisory would be matched against the wrong one.
 */
const VersionPrefix = z.string().max(64);

/** A record as `strata stack explain` reads it, of `example.com` unless it names a domain; unknown fields are refused. */
export const Example = z.strictObject({ ...DomainRecord.shape, domain: z.string().max(253).default('example.com') });
export type Example = z.infer<typeof Example>;

/**
 * Patterns by evidence; each array's members are alternatives. All hosts are suffix patterns. A rule's category may differ
 * from the provider's other rules: Cloudflare is `dns` by NS and `cdn` by header.
 */
export const RuleGroup = z
  .strictObject({
    category: z.enum(CATEGORIES).describe('Of everything that the patterns of the group show.'),
    role: z.enum(ROLE_LIST).optional().describe('The role in the category, if the provider’s kinds do not name it.'),
    ns: Hosts.optional().describe('Name servers.'),
    soa: Hosts.optional().describe('SOA MNAME or RNAME.'),
    mx: Hosts.optional().describe('Mail exchanges.'),
    spf: Hosts.optional().describe('Targets of the apex SPF record: `include:`, `exists:`, `a:`, `mx:`, `redirect=`.'),
    txt: Texts.optional().describe('Start of an apex TXT record, case-insensitive: `google-site-verification=`.'),
    dmarc: Hosts.optional().describe(
      'Host of a DMARC `rua`/`ruf` address, or CNAME target of `_dmarc` and the other mail policies.',
    ),
    caa: Hosts.optional().describe('CAA issue/issuewild value.'),
    cname: Hosts.optional().describe('CNAME targets of `www` and the apex.'),
    named: z
      .array(z.strictObject({ label: Label, target: HostPattern }))
      .optional()
      .describe(
        'CNAME targets of another label, `selector1._domainkey` or `autodiscover`: the probe queries every such label.',
      ),
    dkim: z
      .array(Label.endsWith('._domainkey'))
      .optional()
      .describe('DKIM selectors that are the provider’s by convention: a key is published there, without a CNAME.'),
    txtAt: z
      .array(Label.startsWith('_'))
      .min(1)
      .optional()
      .describe('Labels at which only the provider’s customers publish a TXT record, such as `_amazonses`.'),
    address: z
      .array(z.string().refine(isCanonicalAddress, 'an address as in RFC 5952'))
      .min(1)
      .optional()
      .describe(
        'Web addresses that are the provider’s in any network, such as those of a platform on another owner’s edge.',
      ),
    asn: z
      .array(z.int().positive())
      .optional()
      .describe('Numbers of autonomous systems that announce the web address.'),
    mailAsn: z
      .array(z.int().positive())
      .optional()
      .describe('Those that announce the address of the most preferred exchange.'),
    nsAsn: z
      .array(z.int().positive())
      .optional()
      .describe('Those of name servers, only networks that carry nothing but the provider’s own services.'),
    header: z
      .array(
        z.strictObject({
          name: z.string().regex(/^[a-z0-9-]+$/),
          value: z.string().min(1).optional(),
          version: VersionPrefix.optional().describe('The text before the version; empty if the value is the version.'),
        }),
      )
      .optional()
      .describe('Response header: present, or its value contains `value` as complete words, in any case.'),
    cookie: z
      .array(z.string().regex(/^[A-Za-z0-9_.~-]+(?:\*[A-Za-z0-9_.~-]*)?$/))
      .optional()
      .describe('Cookie names, case-sensitive; one `*`, not at the start, is any text.'),
    html: z
      .strictObject({
        generator: z
          .array(z.union([Text, z.strictObject({ start: Text, version: VersionPrefix })]))
          .min(1)
          .optional(),
        asset: Texts.optional(),
        marker: Texts.optional(),
      })
      .optional()
      .describe(
        '`generator`: the words that begin the meta generator, optionally with the text before a version; `asset`: host suffix, host/path prefix or `/path/` fragment of an asset; `marker`: an id or data attribute.',
      ),
    tls: Texts.optional().describe('The words that begin the certificate issuer’s organisation, in any case.'),
    parking: z
      .literal(true)
      .optional()
      .describe('This rule group marks a domain as parked (for sale, a registrar’s placeholder).'),
    shared: z
      .literal(true)
      .optional()
      .describe(
        'Other products of the owner have the same aliases and addresses: they name the host only if nothing else does.',
      ),
    source: z
      .url({ protocol: /^https$/ })
      .optional()
      .describe(
        'The document that has the patterns: the vendor’s, or a public list; groups of one category may have different ones.',
      ),
    verified_at: z.iso.date().optional().describe('The day of the last comparison of the patterns with the source.'),
    examples: z.array(Example).min(1).optional().describe('Records that show the provider in this category.'),
    counterexamples: z.array(Example).min(1).optional().describe('Similar records that do not.'),
  })
  .refine(({ source, verified_at }) => (source === undefined) === (verified_at === undefined), {
    error: 'source and verified_at belong together',
    path: ['verified_at'],
  })
  .refine(({ address, source }) => address === undefined || source !== undefined, {
    error: 'an address needs the document in which the provider gives it to its customers',
    path: ['source'],
  })
  .refine(
    ({ category, role }) => role === undefined || ROLE_FACTS[role].category === category,
    'a role of the category',
  )
  .readonly();

export const Provider = z
  .strictObject({
    id: Id.describe('Permanent.'),
    name: z.string().min(1).max(64).describe('The owner’s spelling.'),
    aliases: z.array(z.string().min(1).max(64)).default([]),
    owner: z.string().min(1).max(64).optional().describe('The company behind the brand, if it differs from the name.'),
    website: z.url({ protocol: /^https$/ }),
    kinds: z
      .array(z.enum(KINDS))
      .max(4)
      .default([])
      .describe('The most characteristic first; finer than a rule’s category.'),
    cpe: z
      .array(z.string().regex(/^[a-z0-9_.!+~-]+:[a-z0-9_.!+~-]+$/, 'vendor:product, unescaped'))
      .default([])
      .describe(
        'CPE 2.3 vendor and product, unescaped, all pairs ever used: `f5:nginx`. A service has no product names.',
      ),
    packages: z
      .array(z.string().regex(/^pkg:[a-z]+(?:\/[a-z0-9%._-]+)+$/, 'a package URL without version'))
      .default([])
      .describe('Package URLs without version: `pkg:npm/next`.'),
    cna: z
      .array(
        z
          .string()
          .max(128)
          .regex(/^[^/]+\/.+$/, 'vendor/product')
          .refine((words) => words === words.toLowerCase(), 'is not in lower case'),
      )
      .default([])
      .describe('Vendor and product as in a CVE record, lower case: `f5/nginx open source`.'),
    releaseParts: z
      .int()
      .min(2)
      .max(4)
      .optional()
      .describe(
        'The number of components of a release; a version with fewer is truncated. Left out if releases differ.',
      ),
    rules: z.array(RuleGroup).min(1),
  })
  .readonly();

export type RuleGroup = z.infer<typeof RuleGroup>;
export type Provider = z.infer<typeof Provider>;

function isCanonicalAddress(text: string): boolean {
  const words = parseAddress(text);
  return words !== null && addressText(words) === text;
}

/** The keys by which advisories name the product: `cpe:f5:nginx`, `pkg:npm/next`, `cna:f5/nginx open source`. */
export function productKeysOf({ cpe, packages, cna }: Pick<Provider, 'cpe' | 'packages' | 'cna'>): readonly string[] {
  return [...cpe.map((pair) => `cpe:${pair}`), ...packages, ...cna.map((words) => `cna:${words}`)];
}
