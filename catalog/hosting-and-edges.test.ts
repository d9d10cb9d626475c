// What records of real sites look like at clouds, hosts, edges and protections, and who they must be read as.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { compileRulebook, detect, evidenceFromRecord, loadCatalog } from '@strata/detect';
import cdn from './cdn.json' with { type: 'json' };
import clouds from './clouds.json' with { type: 'json' };
import hosting from './hosting.json' with { type: 'json' };
import { entries } from './index.ts';
import waf from './waf.json' with { type: 'json' };

interface Shape {
  /** Alias of `www`, chains in order. */
  readonly www?: readonly string[];
  readonly headers?: Readonly<Record<string, string>>;
  readonly cookies?: readonly string[];
  readonly asn?: number;
  readonly html?: string;
  readonly txt?: readonly string[];
}

const rulebook = compileRulebook(loadCatalog(entries));

/** The record shows the services as `category provider`; `by` is the rule of the first one's strongest evidence. */
function shows(expected: string, by: string, { www = [], asn, ...record }: Shape): void {
  const names = ['www.example.com', ...www];
  const cname = Object.fromEntries(www.map((target, i) => [names[i], target]));
  const a = [{ address: '192.0.2.1', ...(asn && { asn }) }];
  const { services } = detect(evidenceFromRecord({ domain: 'example.com', cname, a, ...record }), rulebook);
  const found = services.map(({ category, provider }) => `${category} ${provider}`);
  assert.equal(found.join(', '), expected);
  assert.equal(services[0]?.evidence[0]?.rule, `${services[0]?.provider}/${by}`);
}

describe('told apart are', () => {
  it('a load balancer of AWS', () =>
    shows('hosting amazon-web-services', 'cname/*.amazonaws.com', {
      www: ['shop-prod-1234567890.eu-west-1.elb.amazonaws.com'],
      asn: 16509,
      cookies: ['AWSALB', 'AWSALBCORS'],
    }));
  it('an S3 website', () =>
    shows('hosting amazon-web-services', 'cname/*.amazonaws.com', {
      www: ['www.example.com.s3-website.eu-central-1.amazonaws.com'],
      headers: { server: 'AmazonS3', 'x-amz-request-id': 'X' },
    }));
  it('API Gateway', () =>
    shows('hosting amazon-web-services', 'header/x-amz-apigw-id', {
      headers: { 'x-amz-apigw-id': 'abc=', 'x-amzn-requestid': '1', 'x-amzn-trace-id': 'Root=1' },
    }));
  it('Elastic Beanstalk', () =>
    shows('hosting amazon-web-services', 'cname/elasticbeanstalk.com', {
      www: ['shop.eba-abcdefgh.us-east-1.elasticbeanstalk.com'],
    }));
  it('Global Accelerator', () =>
    shows('hosting amazon-web-services', 'cname/awsglobalaccelerator.com', {
      www: ['a1234567890abcdef.awsglobalaccelerator.com'],
      asn: 16509,
    }));
  it('CloudFront before a host that nobody sees', () =>
    shows('cdn amazon-cloudfront', 'cname/cloudfront.net', {
      www: ['d111111abcdef8.cloudfront.net'],
      headers: {
        via: '1.1 0123.cloudfront.net (CloudFront)',
        'x-amz-cf-pop': 'FRA56-P1',
        'x-cache': 'Miss from cloudfront',
      },
      asn: 16509,
    }));
  it('CloudFront before S3', () =>
    shows('hosting amazon-web-services, cdn amazon-cloudfront', 'header/server: AmazonS3', {
      headers: { server: 'AmazonS3', 'x-amz-cf-id': 'x' },
      asn: 16509,
    }));
  it('AWS WAF', () => shows('security aws-waf', 'cookie/aws-waf-token', { cookies: ['aws-waf-token'] }));
  it('Azure App Service', () =>
    shows('hosting microsoft-azure', 'cname/azurewebsites.net', {
      www: [
        'example.azurewebsites.net',
        'waws-prod-am2-123.sip.azurewebsites.windows.net',
        'waws-prod-am2-123.cloudapp.net',
      ],
      cookies: ['ARRAffinity', 'ARRAffinitySameSite'],
      asn: 8075,
    }));
  it('Azure Front Door', () =>
    shows('cdn azure-front-door', 'cname/azurefd.net', {
      www: [
        'example-abc123.z01.azurefd.net',
        'star-azurefd-prod.trafficmanager.net',
        'shed.dual-low.part-0012.t-0009.t-msedge.net',
      ],
      headers: { 'x-azure-ref': '2024' },
      asn: 8075,
    }));
  it('an Azure static web app', () =>
    shows('hosting microsoft-azure', 'cname/azurestaticapps.net', { www: ['kind-sea-012345678.azurestaticapps.net'] }));
  it('Azure API Management', () =>
    shows('hosting microsoft-azure', 'cname/azure-api.net', { www: ['example.azure-api.net'] }));
  it('Cloud Run', () =>
    shows('hosting google-cloud', 'header/x-cloud-trace-context', {
      www: ['ghs.googlehosted.com'],
      headers: { server: 'Google Frontend', 'x-cloud-trace-context': '0' },
      asn: 15169,
    }));
  it('a bucket of Google Cloud Storage', () =>
    shows('hosting google-cloud', 'cname/c.storage.googleapis.com', {
      www: ['c.storage.googleapis.com'],
      headers: { server: 'UploadServer', 'x-guploader-uploadid': 'x' },
    }));
  it('Firebase Hosting', () =>
    shows('hosting firebase-hosting, verified_service firebase-hosting', 'cname/web.app', {
      www: ['example-1234.web.app'],
      txt: ['hosting-site=example-1234'],
    }));
  it('Oracle’s cloud by network and load balancer', () =>
    shows('hosting oracle-cloud', 'asn/31898', { cookies: ['X-Oracle-BMC-LBS-Route'], asn: 31898 }));
  it('a bucket of Alibaba Cloud behind its CDN', () =>
    shows('hosting alibaba-cloud, cdn alibaba-cdn, web_platform tengine', 'header/x-oss-request-id', {
      www: ['www.example.com.w.kunlunsl.com'],
      headers: { server: 'Tengine', 'x-oss-request-id': '1', eagleid: '2' },
    }));
  it('Tencent EdgeOne, told from Tencent’s older CDN', () =>
    shows('cdn tencent-edgeone', 'cname/eo.dnse3.com', {
      www: ['www.example.com.eo.dnse3.com'],
      headers: { 'eo-cache-status': 'HIT' },
    }));
  it('Tencent’s CDN', () =>
    shows('cdn tencent-cdn', 'cname/dnsv1.com', {
      www: ['www.example.com.cdn.dnsv1.com', '0abc.p23.tc.cdntip.com'],
      headers: { 'x-nws-log-uuid': '1' },
    }));
  it('Huawei Cloud’s CDN and WAF', () =>
    shows('cdn huawei-cloud-cdn, security huawei-cloud-waf', 'cname/cdnhwc*.com', {
      www: ['www.example.com.c.cdnhwc1.com'],
      cookies: ['HWWAFSESID', 'HWWAFSESTIME'],
    }));
  it('Volcengine’s CDN', () =>
    shows('cdn volcengine', 'cname/volcgslb.com', { www: ['www.example.com.a.volcgslb.com'] }));
  it('Yandex Cloud', () =>
    shows('hosting yandex-cloud', 'cname/yandexcloud.net', { www: ['example.website.yandexcloud.net'], asn: 200350 }));
  it('NAVER’s CDN within its cloud’s names', () =>
    shows('cdn naver-cloud-cdn', 'cname/cdn.ntruss.com', { www: ['abcdefgh1234.cdn.ntruss.com'] }));
  it('Vercel on Amazon’s network', () =>
    shows('hosting vercel', 'cname/*.vercel-dns.com', {
      www: ['cname.vercel-dns.com'],
      headers: { server: 'Vercel', 'x-vercel-id': 'fra1::x' },
      asn: 16509,
    }));
  it('Netlify on Amazon’s network', () =>
    shows('hosting netlify', 'header/x-nf-request-id', {
      headers: { server: 'Netlify', 'x-nf-request-id': '01' },
      asn: 16509,
    }));
  it('Heroku by its report endpoint and proxy', () =>
    shows('hosting heroku', 'header/report-to: nel.heroku.com', {
      headers: { via: '1.1 vegur', 'report-to': '{"endpoints":[{"url":"https://nel.heroku.com/reports?ts=1"}]}' },
      asn: 14618,
    }));
  it('GitHub Pages behind Fastly', () =>
    shows('hosting github-pages, cdn fastly', 'cname/github.io', {
      www: ['example.github.io'],
      headers: {
        server: 'GitHub.com',
        'x-github-request-id': 'A',
        'x-served-by': 'cache-fra-etou1',
        'x-fastly-request-id': 'b',
      },
      asn: 54113,
    }));
  it('Codeberg Pages', () =>
    shows('hosting codeberg-pages', 'cname/codeberg.page', { www: ['example.codeberg.page'] }));
  it('Clever Cloud', () =>
    shows('hosting clever-cloud', 'cname/clever-cloud.com', {
      www: ['domain.par.clever-cloud.com'],
      headers: { 'sozu-id': '01' },
      asn: 213394,
    }));
  it('Read the Docs behind Cloudflare', () =>
    shows('hosting read-the-docs, cdn cloudflare', 'cname/readthedocs.io', {
      www: ['readthedocs.io'],
      headers: { 'cf-ray': '1-FRA', server: 'cloudflare', 'x-rtd-project': 'example' },
      asn: 13335,
    }));
  it('DigitalOcean’s app platform behind Cloudflare', () =>
    shows('hosting digitalocean, cdn cloudflare', 'header/x-do-app-origin', {
      headers: { 'cf-ray': '1-AMS', server: 'cloudflare', 'x-do-app-origin': 'x' },
      asn: 13335,
    }));
  it('a server at Hetzner', () => shows('hosting hetzner', 'asn/24940', { asn: 24940 }));
  it('xneelo, not Hetzner, in South Africa', () => shows('hosting xneelo', 'asn/37153', { asn: 37153 }));
  it('shared hosting of OVHcloud', () =>
    shows('hosting ovhcloud', 'cname/hosting.ovh.net', { www: ['cluster021.hosting.ovh.net'], asn: 16276 }));
  it('SiteGround on Google’s network', () =>
    shows('hosting siteground, web_platform nginx', 'header/host-header: 8441280b0c35cbc1147f8ba998a563a7', {
      headers: { server: 'nginx', 'host-header': '8441280b0c35cbc1147f8ba998a563a7' },
      asn: 396982,
    }));
  it('Bluehost by what its servers call themselves', () =>
    shows('hosting bluehost', 'header/host-header: c2hhcmVkLmJsdWVob3N0LmNvbQ', {
      headers: { 'host-header': 'c2hhcmVkLmJsdWVob3N0LmNvbQ==' },
      asn: 46606,
    }));
  it('Hostinger behind its own edge', () =>
    shows('hosting hostinger, cdn hostinger', 'header/platform: hostinger', {
      www: ['www.example.com.cdn.hstgr.net'],
      headers: { server: 'hcdn', platform: 'hostinger', panel: 'hpanel' },
    }));
  it('home.pl', () =>
    shows('hosting home-pl', 'asn/12824', { headers: { server: 'IdeaWebServer/5.0.0' }, asn: 12824 }));
  it('one.com', () =>
    shows('hosting one-com', 'header/x-onecom-cluster-name', {
      headers: { 'x-onecom-cluster-name': 'x' },
      asn: 51468,
    }));
  it('Beget', () =>
    shows('hosting beget', 'asn/198610', { headers: { server: 'nginx-reuseport/1.21.1' }, asn: 198610 }));
  it('Akamai with its bot manager', () =>
    shows('cdn akamai, security akamai', 'cname/edgekey.net', {
      www: ['www.example.com.edgekey.net', 'e1234.a.akamaiedge.net'],
      headers: { 'server-timing': 'cdn-cache; desc=HIT, ak_p; desc="1_2_3";dur=1' },
      cookies: ['_abck', 'bm_sz', 'ak_bmsc'],
      asn: 20940,
    }));
  it('Edgio, and not any server with an “ecs” in it', () =>
    shows('cdn edgecast', 'header/server: ECS (', { headers: { server: 'ECS (fcn/41A1)' } }));
  it('bunny.net', () =>
    shows('cdn bunny', 'cname/b-cdn.net', {
      www: ['example.b-cdn.net'],
      headers: { server: 'BunnyCDN-DE1-1080', 'cdn-pullzone': '1', 'cdn-uid': 'x' },
    }));
  it('CDNetworks under Wangsu’s names', () =>
    shows('cdn cdnetworks', 'cname/wscdns.com', {
      www: ['www.example.com.wscdns.com'],
      headers: { 'x-ws-request-id': '1' },
    }));
  it('Imperva with its bot protection', () =>
    shows('cdn imperva, security imperva', 'header/x-iinfo', {
      headers: { 'x-iinfo': '1-2-3', 'x-cdn': 'Imperva' },
      cookies: ['visid_incap_123', 'nlbi_123', 'reese84'],
      asn: 19551,
    }));
  it('Link11', () => shows('security link11', 'asn/34309', { headers: { server: 'rhino-core-shield' }, asn: 34309 }));
  it('DDoS-Guard', () =>
    shows('cdn ddos-guard', 'cookie/__ddg*', {
      headers: { server: 'ddos-guard' },
      cookies: ['__ddg1_', '__ddg8_', '__ddg10_'],
      asn: 57724,
    }));
  it('StormWall before a host that nobody sees', () => shows('security stormwall', 'asn/59796', { asn: 59796 }));
  it('Alibaba’s WAF', () =>
    shows('security alibaba-cloud-waf', 'cname/yundunwaf*.com', {
      www: ['www.example.com.abcdefgh.yundunwaf3.com'],
      cookies: ['acw_tc'],
    }));
  it('HUMAN’s bot defender', () =>
    shows('security human-security', 'cookie/_px3', {
      cookies: ['_px3', '_pxvid', 'pxcts'],
      html: '<script src="https://client.px-cloud.net/PX1234/main.min.js"></script>',
    }));
  it('DataDome', () =>
    shows('security datadome', 'header/x-datadome', {
      headers: { 'x-datadome': 'protected' },
      html: '<script src="https://js.datadome.co/tags.js"></script>',
      cookies: ['datadome'],
    }));
  it('a proof-of-work wall of Anubis', () =>
    shows('security anubis', 'cookie/techaro.lol-anubis-auth*', {
      cookies: ['techaro.lol-anubis-auth-for-www.example.com'],
    }));
});

describe('clouds, hosts and edges', () => {
  it('say of each entry what it is', () => {
    const own = loadCatalog([...cdn, ...clouds, ...hosting, ...waf]);
    assert.ok(own.length >= 330, `${own.length} providers`);
    for (const { id, kinds } of own) assert.ok(kinds.length > 0, id);
  });

  it('share no network between a host and an edge', () => {
    const holders = new Map<number, string>();
    for (const { id, rules } of loadCatalog(entries)) {
      for (const asn of rules.flatMap((group) => group.asn ?? [])) {
        assert.equal(holders.get(asn) ?? id, id, `AS${asn}`);
        holders.set(asn, id);
      }
    }
    assert.ok(holders.size >= 300, `${holders.size} networks`);
  });
});
