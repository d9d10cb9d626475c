// What pages load from elsewhere and what names beside a site lead to, and the products that both show.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { alias, assertShown, cookies, page, providers, scripts, servicesOf } from './test/shapes.ts';

describe('what pages load', () => {
  it('measures visitors', () => {
    assertShown(
      [scripts('https://www.googletagmanager.com/gtm.js?id=GTM-ABC123'), ['google-tag-manager']],
      [scripts('https://www.googletagmanager.com/gtag/js?id=G-ABC123'), ['google-analytics']],
      [scripts('https://www.googletagmanager.com/gtag/js?id=AW-123456'), ['google-ads']],
      [cookies('AMCV_1234%40AdobeOrg', 's_vi'), ['adobe-analytics', 'adobe-experience-cloud-id']],
      [scripts('https://hm.baidu.com/hm.js?1'), ['baidu-tongji']],
      [cookies('CNZZDATA1256'), ['umeng-cnzz']],
      [scripts('https://code.etracker.com/code/e.js'), ['etracker']],
      [scripts('https://mc.yandex.ru/metrika/tag.js'), ['yandex-metrica']],
      [scripts('https://dap.digitalgov.gov/Universal-Federated-Analytics-Min.js'), ['digital-analytics-program']],
      [scripts('https://example.piwik.pro/containers/1.js'), ['piwik-pro']],
      [page('<noscript><img src="https://www.facebook.com/tr?id=1&ev=PageView"></noscript>'), ['meta-pixel']],
      [cookies('_clck', '_uetsid'), ['microsoft-advertising', 'microsoft-clarity']],
      [scripts('https://cdn-4.convertexperiments.com/js/1-2.js'), ['convert']],
      [{ cookies: ['ai_user'], headers: { 'request-context': 'appId=cid-v1:1' } }, ['azure-application-insights']],
    );
  });

  it('asks for consent, chats, searches and pays', () => {
    assertShown(
      [scripts('https://sdk.privacy-center.org/1/loader.js'), ['didomi']],
      [scripts('https://static.axept.io/sdk.js'), ['axeptio']],
      [scripts('https://js.hs-scripts.com/1.js', 'https://sibautomation.com/sa.js'), ['brevo', 'hubspot']],
      [cookies('_iub_cs-123'), ['iubenda']],
      [scripts('https://code.jivosite.com/widget/abc'), ['jivochat']],
      [scripts('https://salesiq.zoho.eu/widget'), ['zoho-salesiq']],
      [scripts('https://widget.trustpilot.com/bootstrap/v5/tp.widget.bootstrap.min.js'), ['trustpilot']],
      [scripts('https://js.klevu.com/core/v2/klevu.js'), ['klevu']],
      [
        scripts('https://checkout.razorpay.com/v1/checkout.js', 'https://js.paystack.co/v1/inline.js'),
        ['paystack', 'razorpay'],
      ],
      [
        page(
          '<iframe src="https://www.youtube-nocookie.com/embed/1"></iframe><iframe src="https://www.google.com/maps/embed?pb=1"></iframe>',
        ),
        ['google-maps', 'youtube'],
      ],
      [page('<iframe src="https://www.google.com/search"></iframe>'), []],
      [scripts('https://cdn.weglot.com/weglot.min.js'), ['weglot']],
      [scripts('https://acsbapp.com/apps/app/dist/js/app.js'), ['accessibe']],
    );
  });
});

describe('names beside the site', () => {
  it('lead to status pages, help centres, documentation, sign-in and careers', () => {
    assertShown(
      [alias('status', 'statuspage.betteruptime.com'), ['better-stack']],
      [alias('status', 'stats.uptimerobot.com'), ['uptimerobot']],
      [alias('status', 'abc123.stspg-customer.com'), ['statuspage']],
      [alias('login', 'example.customdomains.okta.com'), ['okta']],
      [alias('help', 'example.zendesk.com'), ['zendesk-guide']],
      [alias('support', 'example.freshdesk.com'), ['freshdesk-portal']],
      [alias('help', 'custom.intercom.help'), ['intercom-help-center']],
      [alias('docs', 'ssl.readmessl.com'), ['readme']],
      [alias('docs', '9ff1e7ed3a-hosting.gitbook.io'), ['gitbook']],
      [alias('auth', 'example-cd-1.edge.tenants.auth0.com'), ['auth0']],
      [alias('careers', 'ext.teamtailor.com'), ['teamtailor']],
      [alias('jobs', 'example.jobs2web.com'), ['successfactors-recruiting']],
    );
  });

  it('name sign-in as an account that was verified, and the rest as part of the web presence', () => {
    const categoryOf = (record: object) => servicesOf(record).map(({ category }) => category);
    assert.deepEqual(categoryOf(alias('login', 'cname.descope.com')), ['verified_service']);
    assert.deepEqual(categoryOf(alias('status', 'cname.instatus.com')), ['web_platform']);
  });
});

describe('every provider of the web', () => {
  it('says what it is', () => {
    for (const { id, rules, kinds } of providers)
      assert.ok(kinds.length > 0 || rules.some(({ category }) => category !== 'web_platform'), id);
  });

  it('has no pattern that a page without it shows', () => {
    assertShown([
      {
        headers: { server: 'Community Stats/1.0', 'x-powered-by': 'x' },
        cookies: ['session', 'sid', 'lang', 'consent', 'csrf', 'token', 'cart', 'user'],
        html: '<div id="app"><div id="root"><div id="main"><div id="header" data-id="1"><script src="/js/app.js"></script><link rel="stylesheet" href="/assets/css/style.css"><img src="/media/images/logo.png"><img src="/themes/main/img.png"><script src="/static/js/main.js"></script>',
      },
      [],
    ]);
  });
});
