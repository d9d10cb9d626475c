// What pages load from elsewhere and what names beside a site lead to, and the products that both show.
import assert from 'node:assert/strict';
import { it } from 'node:test';
import { alias, assertShown, cookies, page, scripts, servicesOf } from './test/shapes.ts';

it('what pages load measures visitors', () =>
  assertShown(
    [scripts('https://www.googletagmanager.com/gtm.js?id=GTM-ABC123'), ['google-tag-manager']],
    [scripts('https://www.googletagmanager.com/gtag/js?id=G-ABC123'), ['google-analytics']],
    [scripts('https://www.googletagmanager.com/gtag/js?id=AW-123456'), ['google-ads']],
    [cookies('AMCV_1234%40AdobeOrg', 's_vi'), ['adobe-analytics', 'adobe-experience-cloud-id']],
    [page('<noscript><img src="https://www.facebook.com/tr?id=1&ev=PageView"></noscript>'), ['meta-pixel']],
    [cookies('_clck', '_uetsid'), ['microsoft-advertising', 'microsoft-clarity']],
    [{ cookies: ['ai_user'], headers: { 'request-context': 'appId=cid-v1:1' } }, ['azure-application-insights']],
  ));
it('what pages load asks for consent, chats, searches and pays', () =>
  assertShown(
    [scripts('https://js.hs-scripts.com/1.js', 'https://sibautomation.com/sa.js'), ['brevo', 'hubspot']],
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
  ));

it('names beside the site lead to help centres', () =>
  assertShown([alias('help', 'example.zendesk.com'), ['zendesk-guide']]));
it('names beside the site name sign-in as an account that was verified, and the rest as part of the web presence', () => {
  const categoryOf = (record: object) => servicesOf(record).map(({ category }) => category);
  assert.deepEqual(categoryOf(alias('login', 'cname.descope.com')), ['verified_service']);
  assert.deepEqual(categoryOf(alias('status', 'cname.instatus.com')), ['web_platform']);
});

it('a page like any other shows no provider', () =>
  assertShown([
    {
      headers: { server: 'Community Stats/1.0', 'x-powered-by': 'x' },
      cookies: ['session', 'sid', 'lang', 'consent', 'csrf', 'token', 'cart', 'user'],
      html: '<div id="app"><div id="root"><div id="main"><div id="header" data-id="1"><script src="/js/app.js"></script><link rel="stylesheet" href="/assets/css/style.css"><img src="/media/images/logo.png"><img src="/themes/main/img.png"><script src="/static/js/main.js"></script>',
    },
    [],
  ]));
