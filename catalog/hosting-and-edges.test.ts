// What records of real sites look like at clouds, hosts, edges and protections, and who they must be read as.
import assert from 'node:assert/strict';
import { it } from 'node:test';
import { profileOf, providers } from './test/shapes.ts';

interface Shape {
  /** Alias of `www`, chains in order. */
  readonly www?: readonly string[];
  readonly headers?: Readonly<Record<string, string>>;
  readonly cookies?: readonly string[];
  readonly asn?: number;
  readonly txt?: readonly string[];
}

/** Who is shown as `category provider`, and the rule of the first one's strongest evidence. */
const SHOWN: Readonly<Record<string, readonly [shown: readonly [services: string, by: string], shape: Shape]>> = {
  'a load balancer of AWS, with its cookies and network': [
    ['hosting amazon-web-services', 'cname/*.amazonaws.com'],
    { www: ['shop-1234567890.eu-west-1.elb.amazonaws.com'], asn: 16509, cookies: ['AWSALB', 'AWSALBCORS'] },
  ],
  'CloudFront before a hidden host': [
    ['cdn amazon-cloudfront', 'cname/cloudfront.net'],
    { www: ['d111111abcdef8.cloudfront.net'], headers: { via: '1.1 0123.cloudfront.net (CloudFront)' }, asn: 16509 },
  ],
  'CloudFront before S3': [
    ['hosting amazon-web-services, cdn amazon-cloudfront', 'header/server: AmazonS3'],
    { headers: { server: 'AmazonS3', 'x-amz-cf-id': 'x' }, asn: 16509 },
  ],
  'Azure App Service by the first of its aliases': [
    ['hosting microsoft-azure', 'cname/azurewebsites.net'],
    { www: ['example.azurewebsites.net', 'waws-prod-am2-123.cloudapp.net'], cookies: ['ARRAffinity'], asn: 8075 },
  ],
  'Azure Front Door on Azure’s network': [
    ['cdn azure-front-door', 'cname/azurefd.net'],
    { www: ['example-abc123.z01.azurefd.net'], headers: { 'x-azure-ref': '2024' }, asn: 8075 },
  ],
  'Cloud Run, not Google’s suite, whose alias it has': [
    ['hosting google-cloud', 'header/x-cloud-trace-context'],
    { www: ['ghs.googlehosted.com'], headers: { server: 'Google Frontend', 'x-cloud-trace-context': '0' }, asn: 15169 },
  ],
  'Firebase Hosting, and the account that was verified': [
    ['hosting firebase-hosting, verified_service firebase-hosting', 'cname/web.app'],
    { www: ['example-1234.web.app'], txt: ['hosting-site=example-1234'] },
  ],
  'a bucket of Alibaba Cloud behind its CDN': [
    ['hosting alibaba-cloud, cdn alibaba-cdn, web_platform tengine', 'header/x-oss-request-id'],
    { www: ['www.example.com.w.kunlunsl.com'], headers: { server: 'Tengine', 'x-oss-request-id': '1' } },
  ],
  'Huawei Cloud’s CDN and WAF': [
    ['cdn huawei-cloud-cdn, security huawei-cloud-waf', 'cname/cdnhwc*.com'],
    { www: ['www.example.com.c.cdnhwc1.com'], cookies: ['HWWAFSESID', 'HWWAFSESTIME'] },
  ],
  'Vercel on Amazon’s network': [
    ['hosting vercel', 'cname/*.vercel-dns.com'],
    { www: ['cname.vercel-dns.com'], headers: { server: 'Vercel', 'x-vercel-id': 'fra1::x' }, asn: 16509 },
  ],
  'Netlify on Amazon’s network': [
    ['hosting netlify', 'header/x-nf-request-id'],
    { headers: { server: 'Netlify', 'x-nf-request-id': '01' }, asn: 16509 },
  ],
  'Heroku by its report endpoint and proxy': [
    ['hosting heroku', 'header/report-to: nel.heroku.com'],
    { headers: { via: '1.1 vegur', 'report-to': '{"endpoints":[{"url":"https://nel.heroku.com/r"}]}' }, asn: 14618 },
  ],
  'GitHub Pages behind Fastly': [
    ['hosting github-pages, cdn fastly', 'cname/github.io'],
    {
      www: ['example.github.io'],
      headers: { server: 'GitHub.com', 'x-github-request-id': 'A', 'x-fastly-request-id': 'b' },
      asn: 54113,
    },
  ],
  'DigitalOcean’s app platform behind Cloudflare': [
    ['hosting digitalocean, cdn cloudflare', 'header/x-do-app-origin'],
    { headers: { 'cf-ray': '1-AMS', server: 'cloudflare', 'x-do-app-origin': 'x' }, asn: 13335 },
  ],
  'SiteGround on Google’s network': [
    ['hosting siteground, web_platform nginx', 'header/host-header: 8441280b0c35cbc1147f8ba998a563a7'],
    { headers: { server: 'nginx', 'host-header': '8441280b0c35cbc1147f8ba998a563a7' }, asn: 396982 },
  ],
  'Hostinger behind its own edge': [
    ['hosting hostinger, cdn hostinger', 'header/platform: hostinger'],
    { www: ['www.example.com.cdn.hstgr.net'], headers: { server: 'hcdn', platform: 'hostinger' } },
  ],
  'Akamai with its bot manager': [
    ['cdn akamai, security akamai', 'cname/edgekey.net'],
    { www: ['www.example.com.edgekey.net', 'e1234.a.akamaiedge.net'], cookies: ['_abck', 'bm_sz'], asn: 20940 },
  ],
  'Imperva with its bot protection': [
    ['cdn imperva, security imperva', 'header/x-iinfo'],
    { headers: { 'x-iinfo': '1-2-3', 'x-cdn': 'Imperva' }, cookies: ['visid_incap_123', 'reese84'], asn: 19551 },
  ],
};

for (const [site, [[expected, by], { www = [], asn, ...record }]] of Object.entries(SHOWN)) {
  it(`a site is read as ${site}`, () => {
    const names = ['www.example.com', ...www];
    const cname = Object.fromEntries(www.map((target, i) => [names[i], target]));
    const { services } = profileOf({ cname, a: [{ address: '192.0.2.1', ...(asn && { asn }) }], ...record });
    assert.equal(services.map(({ category, provider }) => `${category} ${provider}`).join(', '), expected);
    assert.equal(services[0]?.evidence[0]?.rule, `${services[0]?.provider}/${by}`);
  });
}

it('clouds, hosts and edges share no network', () => {
  const holders = new Map<number, string>();
  for (const { id, rules } of providers) {
    for (const asn of rules.flatMap((group) => group.asn ?? [])) {
      assert.equal(holders.get(asn) ?? id, id, `AS${asn}`);
      holders.set(asn, id);
    }
  }
  assert.ok(holders.size >= 300, `${holders.size} networks`);
});
