// Answers as sites give them, and the software that headers, cookies, pages and aliases show behind them.
import { describe, it } from 'node:test';
import { assertShown, cookies, generator, page, poweredBy, scripts, server } from './test/shapes.ts';

describe('servers and languages', () => {
  it('tell themselves and their versions in the Server header', () => {
    assertShown(
      [server('IBM_HTTP_Server/6.1.0.47 Apache/2.0.47 (Unix)'), ['apache 2.0.47', 'ibm-http-server 6.1.0.47']],
      [
        server('Apache/2.4.6 (CentOS) mod_perl/2.0.11 Perl/v5.16.3'),
        ['apache 2.4.6', 'mod-perl 2.0.11', 'perl 5.16.3'],
      ],
      [
        server('Apache/2.2.15 (Red Hat) mod_jk/1.2.40 mod_wsgi/3.2 Python/2.6.6'),
        ['apache 2.2.15', 'mod-jk 1.2.40', 'mod-wsgi 3.2', 'python 2.6.6'],
      ],
      [server('WEBrick/1.6.1 (Ruby/2.7.8/2023-03-30)'), ['ruby 2.7.8', 'webrick 1.6.1']],
      [server('Apache Tomcat/9.0.65'), ['tomcat']],
      [server('Hiawatha v11.4'), ['hiawatha 11.4']],
      [server('FrankenPHP Caddy'), ['caddy', 'frankenphp']],
    );
  });

  it('tell themselves in headers of their own', () => {
    assertShown(
      [{ headers: { via: '1.1 varnish (Varnish/6.0), 1.1 varnish', 'x-varnish': '32770 5' } }, ['varnish']],
      [{ headers: { via: 'kong/3.4.2', 'x-kong-upstream-latency': '12' } }, ['kong 3.4.2']],
      [{ headers: { server: 'istio-envoy', 'x-envoy-upstream-service-time': '7' } }, ['envoy']],
      [poweredBy('Servlet/3.1 JSP/2.3 (GlassFish Server Open Source Edition 4.1)'), ['glassfish', 'servlet']],
      [{ headers: { server: 'WildFly/10', 'x-powered-by': 'Undertow/1' } }, ['undertow', 'wildfly']],
      [poweredBy('W3 Total Cache/2.6.0'), ['wordpress-w3-total-cache 2.6.0']],
      [
        { headers: { microsoftsharepointteamservices: '16.0.0.10396', 'x-sharepointhealthscore': '0' } },
        ['sharepoint'],
      ],
    );
  });

  it('are known by their cookies', () => {
    assertShown(
      [cookies('.AspNetCore.Antiforgery.w5W7x28NAIs'), ['kestrel']],
      [cookies('ASPSESSIONIDQQBCADTC'), ['asp-net']],
    );
  });
});

describe('frameworks and libraries', () => {
  it('leave their marks in a page', () => {
    assertShown(
      [page('<app-root ng-version="17.3.1"></app-root>'), ['angular']],
      [
        page(
          '<div id="svelte" data-sveltekit-preload-data="hover"><script src="/_app/immutable/entry/start.js"></script></div>',
        ),
        ['sveltekit'],
      ],
      [page('<div id="blazor-error-ui"></div><script src="/_framework/blazor.web.js"></script>'), ['blazor']],
      [
        page('<link rel="stylesheet" href="/_astro/index.3f1c.css"><meta name="generator" content="Astro v4.5.16">'),
        ['astro 4.5.16'],
      ],
      [scripts('/jakarta.faces.resource/primefaces-core.js.xhtml?ln=primefaces'), ['primefaces']],
    );
  });

  it('are told apart from the network that serves them, and both are named', () => {
    assertShown(
      [scripts('https://code.jquery.com/jquery-3.7.1.min.js'), ['jquery', 'jquery-cdn']],
      [
        scripts('https://ajax.googleapis.com/ajax/libs/jqueryui/1.13.2/jquery-ui.min.js'),
        ['google-hosted-libraries', 'jquery-ui'],
      ],
      [
        scripts('https://cdn.jsdelivr.net/npm/bootstrap@5.3.2/dist/js/bootstrap.bundle.min.js'),
        ['bootstrap', 'jsdelivr'],
      ],
      [scripts('https://unpkg.com/htmx.org@1.9.10'), ['htmx', 'unpkg']],
      [scripts('https://cdnjs.cloudflare.com/ajax/libs/gsap/3.12.2/gsap.min.js'), ['cdnjs', 'gsap']],
      [scripts('https://cdn.jsdelivr.net/npm/some-package@1/x.js'), ['jsdelivr']],
    );
  });
});

describe('content management', () => {
  it('is named with its version by the generator where that is whole', () => {
    assertShown(
      [generator('Sitefinity 14.4.8133.0 DX'), ['sitefinity 14.4.8133.0']],
      [generator('concrete5 - 8.5.12'), ['concrete-cms 8.5.12']],
      [
        generator('Discourse 3.2.0.beta4 - https://github.com/discourse/discourse version 2c9a'),
        ['discourse 3.2.0.beta4'],
      ],
      [generator('mkdocs-1.5.3, mkdocs-material-9.5.3'), ['mkdocs 1.5.3']],
      [
        generator('Elementor 3.18.2; features: e_dom_optimization; settings: css_print_method-external'),
        ['elementor 3.18.2'],
      ],
      [
        generator('Powered by Slider Revolution 6.6.18 - responsive, Mobile-Friendly Slider Plugin'),
        ['slider-revolution 6.6.18'],
      ],
      [generator('WPML ver:4.6.9 stt:1,3;'), ['wpml 4.6.9']],
    );
  });

  it('is named without a version where only a branch or none is shown', () => {
    assertShown(
      [generator('Movable Type Pro 7'), ['movable-type']],
      [generator('SilverStripe - https://www.silverstripe.org'), ['silverstripe']],
      [generator('Starfield Technologies; Go Daddy Website Builder 8.0.0000'), ['godaddy-website-builder']],
      [generator('WordPress.com'), ['wordpress-com']],
    );
  });

  it('shows in paths, headers and cookies', () => {
    assertShown(
      [{ html: '<img src="/-/media/images/logo.ashx">', cookies: ['SC_ANALYTICS_GLOBAL_COOKIE'] }, ['sitecore']],
      [
        { headers: { 'liferay-portal': 'Liferay Digital Experience Platform' }, cookies: ['GUEST_LANGUAGE_ID'] },
        ['liferay'],
      ],
      [{ headers: { 'x-flow-powered': 'Flow/8.3 Neos/8.3' } }, ['neos']],
      [{ headers: { 'x-flow-powered': 'Flow/8.3' } }, []],
      [
        { headers: { 'composed-by': 'SPIP 4.2.9 @ www.spip.net + https://example.com/local/config.txt' } },
        ['spip 4.2.9'],
      ],
      [{ headers: { link: '<https://example.com/wp-json/>; rel="https://api.w.org/"' } }, ['wordpress']],
      [
        scripts('/wp-includes/js/jquery/jquery.min.js', '/wp-content/plugins/contact-form-7/includes/js/index.js'),
        ['contact-form-7', 'jquery', 'wordpress'],
      ],
      [
        page('<img src="https://images.prismic.io/acme/hero.png"><img src="https://a.storyblok.com/f/1/logo.svg">'),
        ['prismic', 'storyblok'],
      ],
      [{ html: '<html data-xf-init="x">', cookies: ['xf_csrf'] }, ['xenforo']],
    );
  });
});

describe('shops', () => {
  it('are known by their files and cookies', () => {
    assertShown(
      [
        {
          html: '<link rel="stylesheet" href="//www.example.com/cdn/shop/t/2/assets/base.css">',
          headers: { 'powered-by': 'Shopify' },
        },
        ['shopify'],
      ],
      [{ cookies: ['WC_PERSISTENT'], html: '<script src="/wcsstore/dojo18/dojo/dojo.js"></script>' }, ['hcl-commerce']],
      [{ html: '<img src="https://example.vtexassets.com/arquivos/logo.png">', cookies: ['vtex_session'] }, ['vtex']],
    );
  });
});
