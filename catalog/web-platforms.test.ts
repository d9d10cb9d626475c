// Answers as sites give them, with marks of several products at once, and the software that must be read in them.
import { it } from 'node:test';
import { assertShown, cookies, generator, page, poweredBy, scripts, server } from './test/shapes.ts';

it('servers and languages show all products of a Server header, each with its version if that is complete', () => {
  const modules = 'mod_jk/1.2.40 mod_wsgi/3.2 Python/2.6.6';
  assertShown(
    [server('IBM_HTTP_Server/6.1.0.47 Apache/2.0.47 (Unix)'), ['apache 2.0.47', 'ibm-http-server 6.1.0.47']],
    [server('Apache mod_perl/2.0.11 Perl/v5.16.3'), ['apache', 'mod-perl 2.0.11', 'perl 5.16.3']],
    [server(`Apache ${modules}`), ['apache', 'mod-jk 1.2.40', 'mod-wsgi 3.2', 'python 2.6.6']],
    [server('WEBrick/1.6.1 (Ruby/2.7.8/2023-03-30)'), ['ruby 2.7.8', 'webrick 1.6.1']],
    [server('Apache Tomcat/9.0.65'), ['tomcat']],
    [server('FrankenPHP Caddy'), ['caddy', 'frankenphp']],
  );
});
it('servers and languages show in headers of their own, once', () =>
  assertShown(
    [{ headers: { via: '1.1 varnish (Varnish/6.0), 1.1 varnish', 'x-varnish': '32770 5' } }, ['varnish']],
    [{ headers: { via: 'kong/3.4.2', 'x-kong-upstream-latency': '12' } }, ['kong 3.4.2']],
    [poweredBy('Servlet/3.1 JSP/2.3 (GlassFish Server Open Source Edition 4.1)'), ['glassfish', 'servlet']],
    [{ headers: { server: 'WildFly/10', 'x-powered-by': 'Undertow/1' } }, ['undertow', 'wildfly']],
    [cookies('ASPSESSIONIDQQBCADTC'), ['asp-net']],
  ));

it('frameworks and libraries are separated from the network that serves them, and both are named', () => {
  const jqueryUi = 'https://ajax.googleapis.com/ajax/libs/jqueryui/1.13.2/jquery-ui.min.js';
  const bootstrap = 'https://cdn.jsdelivr.net/npm/bootstrap@5.3.2/dist/js/bootstrap.bundle.min.js';
  assertShown(
    [scripts('https://code.jquery.com/jquery-3.7.1.min.js'), ['jquery', 'jquery-cdn']],
    [scripts(jqueryUi), ['google-hosted-libraries', 'jquery-ui']],
    [scripts(bootstrap), ['bootstrap', 'jsdelivr']],
    [scripts('https://unpkg.com/htmx.org@1.9.10'), ['htmx', 'unpkg']],
    [scripts('https://cdnjs.cloudflare.com/ajax/libs/gsap/3.12.2/gsap.min.js'), ['cdnjs', 'gsap']],
    [scripts('https://cdn.jsdelivr.net/npm/some-package@1/x.js'), ['jsdelivr']],
  );
});

it('content management is named with its version by the generator if that is complete, whatever follows', () =>
  assertShown(
    [generator('Discourse 3.2.0.beta4 - https://github.com/discourse version 2c9a'), ['discourse 3.2.0.beta4']],
    [generator('mkdocs-1.5.3, mkdocs-material-9.5.3'), ['mkdocs 1.5.3']],
    [generator('WPML ver:4.6.9 stt:1,3;'), ['wpml 4.6.9']],
    [page('<img src="/_astro/a.png"><meta name="generator" content="Astro v4.5.16">'), ['astro 4.5.16']],
  ));
it('content management is named without a version if only a branch or no version is shown', () =>
  assertShown(
    [generator('Movable Type Pro 7'), ['movable-type']],
    [generator('Starfield Technologies; Go Daddy Website Builder 8.0.0000'), ['godaddy-website-builder']],
    [generator('WordPress.com'), ['wordpress-com']],
  ));
it('content management shows in paths, headers and cookies', () => {
  const plugin = '/wp-content/plugins/contact-form-7/includes/js/index.js';
  assertShown(
    [{ html: '<img src="/-/media/images/logo.ashx">', cookies: ['SC_ANALYTICS_GLOBAL_COOKIE'] }, ['sitecore']],
    [{ headers: { 'x-flow-powered': 'Flow/8.3 Neos/8.3' } }, ['neos']],
    [{ headers: { 'x-flow-powered': 'Flow/8.3' } }, []],
    [{ headers: { 'composed-by': 'SPIP 4.2.9 @ www.spip.net + https://example.com/config.txt' } }, ['spip 4.2.9']],
    [{ headers: { link: '<https://example.com/wp-json/>; rel="https://api.w.org/"' } }, ['wordpress']],
    [scripts('/wp-includes/js/jquery/jquery.min.js', plugin), ['contact-form-7', 'jquery', 'wordpress']],
    [{ html: '<img src="https://example.vtexassets.com/logo.png">', cookies: ['vtex_session'] }, ['vtex']],
  );
});
