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
  /** `category provider` of every service, in the profile's order. */
  readonly expected: readonly string[];
  /** The rule that is the first service's strongest evidence. */
  readonly by: string;
}

const SHAPES: Readonly<Record<string, Shape>> = {
  'a load balancer of AWS': {
    www: ['shop-prod-1234567890.eu-west-1.elb.amazonaws.com'],
    asn: 16509,
    cookies: ['AWSALB', 'AWSALBCORS'],
    expected: ['hosting amazon-web-services'],
    by: 'amazon-web-services/cname/*.amazonaws.com',
  },
  'an S3 website': {
    www: ['www.example.com.s3-website.eu-central-1.amazonaws.com'],
    headers: { server: 'AmazonS3', 'x-amz-request-id': 'X' },
    expected: ['hosting amazon-web-services'],
    by: 'amazon-web-services/cname/*.amazonaws.com',
  },
  'API Gateway': {
    headers: { 'x-amz-apigw-id': 'abc=', 'x-amzn-requestid': '1', 'x-amzn-trace-id': 'Root=1' },
    expected: ['hosting amazon-web-services'],
    by: 'amazon-web-services/header/x-amz-apigw-id',
  },
  'Elastic Beanstalk': {
    www: ['shop.eba-abcdefgh.us-east-1.elasticbeanstalk.com'],
    expected: ['hosting amazon-web-services'],
    by: 'amazon-web-services/cname/elasticbeanstalk.com',
  },
  'Global Accelerator': {
    www: ['a1234567890abcdef.awsglobalaccelerator.com'],
    asn: 16509,
    expected: ['hosting amazon-web-services'],
    by: 'amazon-web-services/cname/awsglobalaccelerator.com',
  },
  'CloudFront before a host that nobody sees': {
    www: ['d111111abcdef8.cloudfront.net'],
    headers: {
      via: '1.1 0123.cloudfront.net (CloudFront)',
      'x-amz-cf-pop': 'FRA56-P1',
      'x-cache': 'Miss from cloudfront',
    },
    asn: 16509,
    expected: ['cdn amazon-cloudfront'],
    by: 'amazon-cloudfront/cname/cloudfront.net',
  },
  'CloudFront before S3': {
    headers: { server: 'AmazonS3', 'x-amz-cf-id': 'x' },
    asn: 16509,
    expected: ['hosting amazon-web-services', 'cdn amazon-cloudfront'],
    by: 'amazon-web-services/header/server: AmazonS3',
  },
  'AWS WAF': {
    cookies: ['aws-waf-token'],
    expected: ['security aws-waf'],
    by: 'aws-waf/cookie/aws-waf-token',
  },
  'Azure App Service': {
    www: [
      'example.azurewebsites.net',
      'waws-prod-am2-123.sip.azurewebsites.windows.net',
      'waws-prod-am2-123.cloudapp.net',
    ],
    cookies: ['ARRAffinity', 'ARRAffinitySameSite'],
    asn: 8075,
    expected: ['hosting microsoft-azure'],
    by: 'microsoft-azure/cname/azurewebsites.net',
  },
  'Azure Front Door': {
    www: [
      'example-abc123.z01.azurefd.net',
      'star-azurefd-prod.trafficmanager.net',
      'shed.dual-low.part-0012.t-0009.t-msedge.net',
    ],
    headers: { 'x-azure-ref': '2024' },
    asn: 8075,
    expected: ['cdn azure-front-door'],
    by: 'azure-front-door/cname/azurefd.net',
  },
  'an Azure static web app': {
    www: ['kind-sea-012345678.azurestaticapps.net'],
    expected: ['hosting microsoft-azure'],
    by: 'microsoft-azure/cname/azurestaticapps.net',
  },
  'Azure API Management': {
    www: ['example.azure-api.net'],
    expected: ['hosting microsoft-azure'],
    by: 'microsoft-azure/cname/azure-api.net',
  },
  'Cloud Run': {
    www: ['ghs.googlehosted.com'],
    headers: { server: 'Google Frontend', 'x-cloud-trace-context': '0' },
    asn: 15169,
    expected: ['hosting google-cloud'],
    by: 'google-cloud/header/x-cloud-trace-context',
  },
  'a bucket of Google Cloud Storage': {
    www: ['c.storage.googleapis.com'],
    headers: { server: 'UploadServer', 'x-guploader-uploadid': 'x' },
    expected: ['hosting google-cloud'],
    by: 'google-cloud/cname/c.storage.googleapis.com',
  },
  'Firebase Hosting': {
    www: ['example-1234.web.app'],
    txt: ['hosting-site=example-1234'],
    expected: ['hosting firebase-hosting', 'verified_service firebase-hosting'],
    by: 'firebase-hosting/cname/web.app',
  },
  'Oracle’s cloud by network and load balancer': {
    cookies: ['X-Oracle-BMC-LBS-Route'],
    asn: 31898,
    expected: ['hosting oracle-cloud'],
    by: 'oracle-cloud/asn/31898',
  },
  'a bucket of Alibaba Cloud behind its CDN': {
    www: ['www.example.com.w.kunlunsl.com'],
    headers: { server: 'Tengine', 'x-oss-request-id': '1', eagleid: '2' },
    expected: ['hosting alibaba-cloud', 'cdn alibaba-cdn', 'web_platform tengine'],
    by: 'alibaba-cloud/header/x-oss-request-id',
  },
  'Tencent EdgeOne, told from Tencent’s older CDN': {
    www: ['www.example.com.eo.dnse3.com'],
    headers: { 'eo-cache-status': 'HIT' },
    expected: ['cdn tencent-edgeone'],
    by: 'tencent-edgeone/cname/eo.dnse3.com',
  },
  'Tencent’s CDN': {
    www: ['www.example.com.cdn.dnsv1.com', '0abc.p23.tc.cdntip.com'],
    headers: { 'x-nws-log-uuid': '1' },
    expected: ['cdn tencent-cdn'],
    by: 'tencent-cdn/cname/dnsv1.com',
  },
  'Huawei Cloud’s CDN and WAF': {
    www: ['www.example.com.c.cdnhwc1.com'],
    cookies: ['HWWAFSESID', 'HWWAFSESTIME'],
    expected: ['cdn huawei-cloud-cdn', 'security huawei-cloud-waf'],
    by: 'huawei-cloud-cdn/cname/cdnhwc*.com',
  },
  'Volcengine’s CDN': {
    www: ['www.example.com.a.volcgslb.com'],
    expected: ['cdn volcengine'],
    by: 'volcengine/cname/volcgslb.com',
  },
  'Yandex Cloud': {
    www: ['example.website.yandexcloud.net'],
    asn: 200350,
    expected: ['hosting yandex-cloud'],
    by: 'yandex-cloud/cname/yandexcloud.net',
  },
  'NAVER’s CDN within its cloud’s names': {
    www: ['abcdefgh1234.cdn.ntruss.com'],
    expected: ['cdn naver-cloud-cdn'],
    by: 'naver-cloud-cdn/cname/cdn.ntruss.com',
  },
  'Vercel on Amazon’s network': {
    www: ['cname.vercel-dns.com'],
    headers: { server: 'Vercel', 'x-vercel-id': 'fra1::x' },
    asn: 16509,
    expected: ['hosting vercel'],
    by: 'vercel/cname/*.vercel-dns.com',
  },
  'Netlify on Amazon’s network': {
    headers: { server: 'Netlify', 'x-nf-request-id': '01' },
    asn: 16509,
    expected: ['hosting netlify'],
    by: 'netlify/header/x-nf-request-id',
  },
  'Heroku by its report endpoint and proxy': {
    headers: { via: '1.1 vegur', 'report-to': '{"endpoints":[{"url":"https://nel.heroku.com/reports?ts=1"}]}' },
    asn: 14618,
    expected: ['hosting heroku'],
    by: 'heroku/header/report-to: nel.heroku.com',
  },
  'GitHub Pages behind Fastly': {
    www: ['example.github.io'],
    headers: {
      server: 'GitHub.com',
      'x-github-request-id': 'A',
      'x-served-by': 'cache-fra-etou1',
      'x-fastly-request-id': 'b',
    },
    asn: 54113,
    expected: ['hosting github-pages', 'cdn fastly'],
    by: 'github-pages/cname/github.io',
  },
  'Codeberg Pages': {
    www: ['example.codeberg.page'],
    expected: ['hosting codeberg-pages'],
    by: 'codeberg-pages/cname/codeberg.page',
  },
  'Clever Cloud': {
    www: ['domain.par.clever-cloud.com'],
    headers: { 'sozu-id': '01' },
    asn: 213394,
    expected: ['hosting clever-cloud'],
    by: 'clever-cloud/cname/clever-cloud.com',
  },
  'Read the Docs behind Cloudflare': {
    www: ['readthedocs.io'],
    headers: { 'cf-ray': '1-FRA', server: 'cloudflare', 'x-rtd-project': 'example' },
    asn: 13335,
    expected: ['hosting read-the-docs', 'cdn cloudflare'],
    by: 'read-the-docs/cname/readthedocs.io',
  },
  'DigitalOcean’s app platform behind Cloudflare': {
    headers: { 'cf-ray': '1-AMS', server: 'cloudflare', 'x-do-app-origin': 'x' },
    asn: 13335,
    expected: ['hosting digitalocean', 'cdn cloudflare'],
    by: 'digitalocean/header/x-do-app-origin',
  },
  'a server at Hetzner': { asn: 24940, expected: ['hosting hetzner'], by: 'hetzner/asn/24940' },
  'xneelo, not Hetzner, in South Africa': { asn: 37153, expected: ['hosting xneelo'], by: 'xneelo/asn/37153' },
  'shared hosting of OVHcloud': {
    www: ['cluster021.hosting.ovh.net'],
    asn: 16276,
    expected: ['hosting ovhcloud'],
    by: 'ovhcloud/cname/hosting.ovh.net',
  },
  'SiteGround on Google’s network': {
    headers: { server: 'nginx', 'host-header': '8441280b0c35cbc1147f8ba998a563a7' },
    asn: 396982,
    expected: ['hosting siteground', 'web_platform nginx'],
    by: 'siteground/header/host-header: 8441280b0c35cbc1147f8ba998a563a7',
  },
  'Bluehost by what its servers call themselves': {
    headers: { 'host-header': 'c2hhcmVkLmJsdWVob3N0LmNvbQ==' },
    asn: 46606,
    expected: ['hosting bluehost'],
    by: 'bluehost/header/host-header: c2hhcmVkLmJsdWVob3N0LmNvbQ',
  },
  'Hostinger behind its own edge': {
    www: ['www.example.com.cdn.hstgr.net'],
    headers: { server: 'hcdn', platform: 'hostinger', panel: 'hpanel' },
    expected: ['hosting hostinger', 'cdn hostinger'],
    by: 'hostinger/header/platform: hostinger',
  },
  'home.pl': {
    headers: { server: 'IdeaWebServer/5.0.0' },
    asn: 12824,
    expected: ['hosting home-pl'],
    by: 'home-pl/asn/12824',
  },
  'one.com': {
    headers: { 'x-onecom-cluster-name': 'x' },
    asn: 51468,
    expected: ['hosting one-com'],
    by: 'one-com/header/x-onecom-cluster-name',
  },
  Beget: {
    headers: { server: 'nginx-reuseport/1.21.1' },
    asn: 198610,
    expected: ['hosting beget'],
    by: 'beget/asn/198610',
  },
  'Akamai with its bot manager': {
    www: ['www.example.com.edgekey.net', 'e1234.a.akamaiedge.net'],
    headers: { 'server-timing': 'cdn-cache; desc=HIT, ak_p; desc="1_2_3";dur=1' },
    cookies: ['_abck', 'bm_sz', 'ak_bmsc'],
    asn: 20940,
    expected: ['cdn akamai', 'security akamai'],
    by: 'akamai/cname/edgekey.net',
  },
  'Edgio, and not any server with an “ecs” in it': {
    headers: { server: 'ECS (fcn/41A1)' },
    expected: ['cdn edgecast'],
    by: 'edgecast/header/server: ECS (',
  },
  'bunny.net': {
    www: ['example.b-cdn.net'],
    headers: { server: 'BunnyCDN-DE1-1080', 'cdn-pullzone': '1', 'cdn-uid': 'x' },
    expected: ['cdn bunny'],
    by: 'bunny/cname/b-cdn.net',
  },
  'CDNetworks under Wangsu’s names': {
    www: ['www.example.com.wscdns.com'],
    headers: { 'x-ws-request-id': '1' },
    expected: ['cdn cdnetworks'],
    by: 'cdnetworks/cname/wscdns.com',
  },
  'Imperva with its bot protection': {
    headers: { 'x-iinfo': '1-2-3', 'x-cdn': 'Imperva' },
    cookies: ['visid_incap_123', 'nlbi_123', 'reese84'],
    asn: 19551,
    expected: ['cdn imperva', 'security imperva'],
    by: 'imperva/header/x-iinfo',
  },
  Link11: {
    headers: { server: 'rhino-core-shield' },
    asn: 34309,
    expected: ['security link11'],
    by: 'link11/asn/34309',
  },
  'DDoS-Guard': {
    headers: { server: 'ddos-guard' },
    cookies: ['__ddg1_', '__ddg8_', '__ddg10_'],
    asn: 57724,
    expected: ['cdn ddos-guard'],
    by: 'ddos-guard/cookie/__ddg*',
  },
  'StormWall before a host that nobody sees': {
    asn: 59796,
    expected: ['security stormwall'],
    by: 'stormwall/asn/59796',
  },
  'Alibaba’s WAF': {
    www: ['www.example.com.abcdefgh.yundunwaf3.com'],
    cookies: ['acw_tc'],
    expected: ['security alibaba-cloud-waf'],
    by: 'alibaba-cloud-waf/cname/yundunwaf*.com',
  },
  'HUMAN’s bot defender': {
    cookies: ['_px3', '_pxvid', 'pxcts'],
    html: '<script src="https://client.px-cloud.net/PX1234/main.min.js"></script>',
    expected: ['security human-security'],
    by: 'human-security/cookie/_px3',
  },
  DataDome: {
    headers: { 'x-datadome': 'protected' },
    html: '<script src="https://js.datadome.co/tags.js"></script>',
    cookies: ['datadome'],
    expected: ['security datadome'],
    by: 'datadome/header/x-datadome',
  },
  'a proof-of-work wall of Anubis': {
    cookies: ['techaro.lol-anubis-auth-for-www.example.com'],
    expected: ['security anubis'],
    by: 'anubis/cookie/techaro.lol-anubis-auth*',
  },
};

describe('clouds, hosts and edges', () => {
  const rulebook = compileRulebook(loadCatalog(entries));

  for (const [name, { www = [], headers, cookies, asn, html, txt, expected, by }] of Object.entries(SHAPES)) {
    it(`are told apart: ${name}`, () => {
      const names = ['www.example.com', ...www];
      const { services } = detect(
        evidenceFromRecord({
          domain: 'example.com',
          cname: Object.fromEntries(www.map((target, i) => [names[i], target])),
          ...(headers && { headers }),
          ...(cookies && { cookies }),
          ...(html && { html }),
          ...(txt && { txt }),
          a: [{ address: '192.0.2.1', ...(asn && { asn }) }],
        }),
        rulebook,
      );
      assert.deepEqual(
        services.map(({ category, provider }) => `${category} ${provider}`),
        expected,
      );
      assert.equal(services[0]?.evidence[0]?.rule, by);
    });
  }

  it('are at least forty shapes', () => {
    assert.ok(Object.keys(SHAPES).length >= 40);
  });

  it('say of each entry what it is', () => {
    const own = loadCatalog([...cdn, ...clouds, ...hosting, ...waf]);
    assert.ok(own.length >= 330, `${own.length} providers`);
    assert.deepEqual(
      own.filter(({ kinds }) => kinds.length === 0).map(({ id }) => id),
      [],
    );
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
