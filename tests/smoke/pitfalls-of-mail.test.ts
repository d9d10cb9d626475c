// Ways in which mail records are commonly misread, one test each, with the whole rulebook. docs/pitfalls.md lists all forty.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { assessPosture } from '@strata/detect';
import { found, mx, profileOf, seen } from '../support/pitfalls.ts';

const google = mx('1 aspmx.l.google.com', '5 alt1.aspmx.l.google.com');
const gateway = mx('10 eu-smtp-inbound-1.mimecast.com');

describe('pitfall', () => {
  it('1: a gateway’s exchange is not the mailbox, which only its tenant’s own names show', () => {
    const { roles } = profileOf({ mx: gateway });
    assert.equal(roles.mailbox, 'blocked');
    assert.deepEqual(seen({ mx: gateway }), ['email_security mimecast high']);
    const cname = {
      'selector1._domainkey.example.com': 'selector1-example-com._domainkey.acme.onmicrosoft.com',
      'autodiscover.example.com': 'autodiscover.outlook.com',
    };
    assert.deepEqual(seen({ mx: gateway, cname }), ['email microsoft-365 high', 'email_security mimecast high']);
  });

  it('2: a forwarding service receives and keeps nothing', () => {
    for (const [exchange, id] of [
      ['route1.mx.cloudflare.net', 'cloudflare-email-routing'],
      ['mx1.improvmx.com', 'improvmx'],
      ['mx1.forwardemail.net', 'forward-email'],
    ] as const) {
      assert.deepEqual(seen({ mx: mx(`10 ${exchange}`) }), [`email_security ${id} high`]);
      assert.equal(profileOf({ mx: mx(`10 ${exchange}`) }).roles.mailbox, 'blocked');
    }
  });

  it('3: a verification token binds an account and shows no mailbox', () => {
    const txt = ['MS=ms12345678', 'google-site-verification=abcdefghijklmnopqrstuvwxyz0123456789_-ABCDE'];
    const services = seen({ mx: mx('10 mail.example.com'), txt });
    assert.equal(services.length, 2);
    assert.ok(services.every((line) => line.startsWith('verified_service ') && line.endsWith(' medium')));
  });

  it('4: old and new names of an exchange are one provider, and verification residue is none', () => {
    const table = [
      ['example-com.mail.protection.outlook.com', 'email microsoft-365 high'],
      ['example-com.mail.eo.outlook.com', 'email microsoft-365 high'],
      ['example-com.x-v1.mx.microsoft', 'email microsoft-365 high'],
      ['smtp.google.com', 'email google-workspace high'],
      ['aspmx.l.google.com', 'email google-workspace high'],
      ['aspmx2.googlemail.com', 'email google-workspace high'],
    ] as const;
    for (const [exchange, line] of table) assert.deepEqual(seen({ mx: mx(`0 ${exchange}`) }), [line], exchange);
    assert.deepEqual(seen({ mx: mx('0 ms12345678.msv1.invalid') }), []);
  });

  it('5: null MX and no MX are no mail, not an unknown provider', () => {
    for (const none of [[{ preference: 0, exchange: '' }], []]) {
      const { roles, holders } = profileOf({ mx: none, txt: ['v=spf1 include:_spf.google.com -all'] });
      assert.deepEqual([roles.mailbox, holders.mailbox], ['absent', 'nobody']);
    }
  });

  it('6: an exchange under the domain’s own name is nobody’s product without its network', () => {
    const own = mx('10 mail.example.com');
    const txt = ['v=spf1 include:_spf.google.com -all'];
    assert.deepEqual(seen({ mx: own, txt }), ['email_sending google-workspace high']);
    assert.equal(profileOf({ mx: own }).holders.mailbox, 'unmeasured');
  });

  it('7: the name of a rented machine is no mail product of its host', () => {
    const rented = ['vps12345.ovh.net', 's132-148-1-2.secureserver.net', 'static.1.2.3.4.clients.your-server.de'];
    for (const host of [...rented, 'ec2-3-64-1-2.eu-central-1.compute.amazonaws.com'])
      assert.deepEqual(seen({ mx: mx(`10 ${host}`) }), [], host);
    assert.deepEqual(seen({ mx: mx('10 mx1.mail.ovh.net') }), ['email ovhcloud high']);
  });

  it('8: two providers at equal preference are two', () => {
    const both = mx('10 aspmx.l.google.com', '10 example-com.mail.protection.outlook.com');
    assert.deepEqual(seen({ mx: both }), ['email google-workspace high', 'email microsoft-365 high']);
    assert.deepEqual(seen({ mx: both.toReversed() }), seen({ mx: both }));
  });

  it('9: an SPF policy lists senders, however many', () => {
    const senders = ['_spf.google.com', 'spf.protection.outlook.com', 'sendgrid.net', 'amazonses.com'];
    const txt = [`v=spf1 ${senders.map((name) => `include:${name}`).join(' ')} ~all`];
    const sending = ['amazon-ses', 'microsoft-365', 'sendgrid'].map((id) => `email_sending ${id} high`);
    assert.deepEqual(seen({ mx: google, txt }), ['email google-workspace high', ...sending]);
  });

  it('10: hosted policies hide senders, a redirect replaces, and `all` makes it void', () => {
    const senders = (txt: string) => seen({ txt: [txt] });
    const hosted = 'v=spf1 include:%{i}._ip.%{h}._ehlo.%{d}._spf.vali.email ~all';
    assert.deepEqual(senders(hosted), ['email_security valimail high']);
    assert.deepEqual(senders('v=spf1 redirect=sendgrid.net'), ['email_sending sendgrid high']);
    assert.deepEqual(senders('v=spf1 -all redirect=sendgrid.net'), []);
    assert.deepEqual(senders('v=spf1 exists:%{i}._spf.example.net ip4:192.0.2.0/24 -all'), []);
  });

  it('10: what a reseller’s policy includes counts, at lower confidence', () => {
    const policies = { '_spf.reseller.example': ['v=spf1 include:sendgrid.net ~all'] };
    const txt = ['v=spf1 include:_spf.reseller.example ~all'];
    assert.deepEqual(seen({ txt }, policies), ['email_sending sendgrid medium']);
  });

  it('11: senders of a policy that receivers cannot evaluate are wished, not in force', () => {
    const many = Array.from({ length: 11 }, (_, i) => `include:s${i}.example.net`).join(' ');
    const two = ['v=spf1 include:sendgrid.net -all', 'v=spf1 -all'];
    for (const txt of [[`v=spf1 include:sendgrid.net ${many} -all`], two])
      assert.deepEqual(seen({ txt }), ['email_sending sendgrid low']);
  });

  it('12: testing lowers a DMARC policy, `pct` does not, and an alias shows the vendor', () => {
    const policyOf = (dmarc: string) => {
      const { dmarc: told } = assessPosture(profileOf.evidence({ dmarc }));
      return [told.policy, told.effectivePolicy];
    };
    assert.deepEqual(policyOf('v=DMARC1; p=reject; t=y'), ['reject', 'quarantine']);
    assert.deepEqual(policyOf('v=DMARC1; p=reject; pct=1'), ['reject', 'reject']);
    assert.deepEqual(policyOf('v=DMARC1; rua=mailto:a@example.com'), ['none', 'none']);
    const dmarc = 'v=DMARC1; p=none; rua=mailto:x@rua.easydmarc.com';
    assert.deepEqual(seen({ dmarc }), ['email_security easydmarc high']);
  });

  it('13: a selector that a wildcard answers is no key of anybody', () => {
    const alias = found(['v=DKIM1; p=AA'], 's1.domainkey.u1.wl001.sendgrid.net');
    const dns = { named: { 's1._domainkey': alias } };
    assert.deepEqual(seen({}, {}, { dns }), ['email_sending sendgrid high']);
    assert.deepEqual(seen({}, {}, { dns: { ...dns, wildcardTxt: alias } }), []);
  });
});
