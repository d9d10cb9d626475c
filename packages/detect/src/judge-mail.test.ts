// Who receives, keeps and sends mail: one row for each way in which records are commonly misread.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { aliasTo, type EvidenceParts } from './test/evidence-of.ts';
import { rows } from './test/rows.ts';
import { linesOf, noLabels, profileOf, servicesOf } from './test/rulebook-of.ts';

const googlyMx = ['1 aspmx.l.googly.test', '5 alt1.aspmx.l.googly.test'];
const guardMx = ['10 mxa.guard.test', '10 mxb.guard.test'];
const ownMx = ['10 mail.example.com'];
const micro = aliasTo('autodiscover.micro.test');
const dkim = { 'selector1._domainkey': aliasTo('x.onmicro.test') };
const both = { ...dkim, autodiscover: micro };
const guard = 'email_security guard high';
const spf = (...includes: readonly string[]) => [`v=spf1 ${includes.map((host) => `include:${host} `).join('')}-all`];
const MICRO = 'spf.micro.test';
const GOOGLY = '_spf.googly.test';
const reseller = { '_spf.reseller.test': ['v=spf1 include:deeper.reseller.test ~all'] };
const dangling = { status: 'nxdomain' as const, records: [], aliases: ['s1.dkim.sendy.test'] };
const atVps = [{ use: 'mail' as const, asn: 64501 }];
const shows = (services: string, parts: EvidenceParts) => assert.equal(servicesOf(parts), services);

function showsMailbox(mailbox: string, services: string, parts: EvidenceParts): void {
  assert.deepEqual([servicesOf(parts), profileOf(parts).roles.mailbox], [services, mailbox]);
}

describe('the mailbox', () => {
  rows(shows, [
    ['belongs to the provider whose exchange receives the mail', 'email googly high', { mx: googlyMx }],
    ['is not the forwarding service', 'email_security forwarder high', { mx: ['10 mx1.forwarder.test'] }],
    ['is high with autodiscover and DKIM together', `email micro high, ${guard}`, { mx: guardMx, named: both }],
    ['is not decided by names while TXT cannot be looked up', guard, { mx: guardMx, named: dkim, txt: 'timeout' }],
    ['is not shown by an account token alone', '', { mx: ownMx, txt: ['googly-account=1'] }],
    ['is not a less preferred exchange behind an unknown one', '', { mx: [...ownMx, '50 a.mail.micro.test'] }],
    ['at a vanity exchange is known by its network', 'email vpshost medium', { mx: ownMx, addresses: atVps }],
    ['behind a gateway is not known by the network', guard, { mx: guardMx, addresses: atVps }],
    ['is shown beside a verification residue', 'email googly high', { mx: ['0 ms1.msv1.invalid', ...googlyMx] }],
  ]);
  it('behind a gateway is found by its DKIM selector', () =>
    shows(`email micro medium, ${guard}`, {
      mx: guardMx,
      named: { 'selector1._domainkey': aliasTo('selector1-example-com._domainkey.acme.onmicro.test') },
    }));
  it('behind a gateway is found by autodiscover', () =>
    shows(`email micro medium, ${guard}`, { mx: guardMx, named: { autodiscover: micro } }));
  it('behind a gateway is low by an SPF include, which shows a sender', () =>
    shows(`email micro low, ${guard}, email_sending micro high`, { mx: guardMx, txt: spf(MICRO) }));
  it('behind a gateway stays unknown where two includes weigh the same', () =>
    shows(`${guard}, email_sending googly high, email_sending micro high`, { mx: guardMx, txt: spf(MICRO, GOOGLY) }));
  it('behind a gateway is decided between two includes by the account token', () =>
    shows(`email googly medium, ${guard}, email_sending googly high, email_sending micro high`, {
      mx: guardMx,
      txt: [...spf(MICRO, GOOGLY), 'googly-account=1'],
    }));
  it('is decided by two kinds of names against an include of another provider', () =>
    shows(`email micro high, ${guard}, email_sending googly high`, { mx: guardMx, named: both, txt: spf(GOOGLY) }));
  it('is not decided by one kind of names against an include of another provider', () =>
    shows(`${guard}, email_sending googly high`, { mx: guardMx, named: dkim, txt: spf(GOOGLY) }));
  it('is not where an SPF include points without a gateway', () =>
    shows('email_sending googly high', { mx: ownMx, txt: spf(GOOGLY) }));
  it('is not a second provider whose DKIM or include stands beside the exchange of the first', () =>
    shows('email googly high, email_sending micro high', { mx: googlyMx, named: dkim, txt: spf(MICRO) }));
  it('is two where two providers have exchanges of equal preference', () =>
    shows('email googly high, email micro high', { mx: ['10 aspmx.l.googly.test', '10 a.mail.micro.test'] }));
  it('is not a backup exchange of another provider', () =>
    shows('email micro high', { mx: ['10 a.mail.micro.test', '50 aspmx.l.googly.test'] }));
  it('is low at a less preferred exchange behind a gateway', () =>
    shows(`email micro low, ${guard}`, { mx: [...guardMx, '50 a.mail.micro.test'] }));

  it('is hidden by the gateway before it', () => showsMailbox('blocked', guard, { mx: guardMx }));
  it('is absent under a null MX, whatever else is published', () =>
    showsMailbox('absent', 'email_sending micro high', {
      mx: ['0 '],
      named: { autodiscover: micro },
      txt: spf(MICRO),
    }));
  it('is absent where there is no MX at all', () => showsMailbox('absent', '', { mx: 'empty' }));
  it('is absent with a verification residue alone', () =>
    showsMailbox('absent', '', { mx: ['0 ms12345678.msv1.invalid'] }));
  it('at an unknown exchange is absent, and not hidden by a vendor that only reads reports', () =>
    showsMailbox('absent', 'email_security dmarcer high', {
      mx: ownMx,
      dmarc: ['v=DMARC1; p=none; rua=mailto:x@rua.dmarcer.test'],
      named: noLabels,
      addresses: [{ asn: 64511 }, { asn: 64511, use: 'mail' }],
    }));
  it('is unmeasured when the MX look-up failed', () =>
    showsMailbox('unmeasured', '', { mx: 'timeout', txt: spf(MICRO) }));

  it('is corroborated by its own SPF include, which then is no service of its own', () => {
    const { services } = profileOf({ mx: googlyMx, txt: spf(GOOGLY) });
    assert.deepEqual([linesOf(services), services[0]?.score], [['email googly high'], 0.97]);
  });
  it('is not moved to the provider of DKIM or an include while the exchange cannot be looked up', () => {
    const { services, roles } = profileOf({ mx: 'servfail', named: { autodiscover: micro }, txt: spf(GOOGLY) });
    assert.deepEqual([services, roles.mailbox, roles.sender], [[], 'unmeasured', 'unmeasured']);
  });
  it('is not shown by an include while a selector that would show it cannot be looked up', () => {
    const named = { 'selector1._domainkey': 'timeout' } as const;
    const { services, roles } = profileOf({ mx: guardMx, txt: spf(GOOGLY, 'sendy.test'), named });
    assert.deepEqual([linesOf(services), roles.sender], [[guard, 'email_sending sendy high'], 'unmeasured']);
  });
});

describe('a gateway', () => {
  it('is shown by its exchange and corroborated by its include', () => {
    const { services } = profileOf({ mx: guardMx, txt: spf('spf.guard.test') });
    assert.deepEqual([linesOf(services), services[0]?.score], [[guard], 0.98]);
  });
  it('is not shown by its include alone, which lets it send', () =>
    shows('email googly high, email_sending guard high', { mx: googlyMx, txt: spf('spf.guard.test') }));
  it('is low as a backup exchange', () =>
    shows('email_security guard low', { mx: [...ownMx, '90 backup.guard.test'] }));

  it('does not become a sender while its exchange or its reports cannot be looked up', () => {
    for (const parts of [{ mx: 'timeout' }, { dmarc: 'timeout' }] as const) {
      const { services, roles } = profileOf({ ...parts, txt: spf('spf.guard.test') });
      assert.deepEqual([services, roles.sender], [[], 'unmeasured']);
    }
  });
});

describe('record vendors and senders', () => {
  const sendy = 'email_sending sendy high';
  const dmarcer = 'email_security dmarcer high';
  rows(shows, [
    ['a vendor that hosts the SPF record', dmarcer, { txt: spf('%{i}._ip.%{h}._spf.dmarcer.test') }],
    ['a vendor that takes the reports', dmarcer, { dmarc: ['v=DMARC1; p=none; rua=mailto:x@rua.dmarcer.test'] }],
    ['a sender by include', sendy, { txt: spf('sendy.test') }],
    ['a sender by DKIM', sendy, { named: { 's1._domainkey': aliasTo('s1.dkim.sendy.test') } }],
    ['no sender of an unknown policy that includes none', '', { txt: spf('_spf.reseller.test'), spf: reseller }],
    ['a redirect', sendy, { txt: ['v=spf1 redirect=sendy.test'] }],
    ['no redirect that `all` makes void', '', { txt: ['v=spf1 redirect=sendy.test -all'] }],
    ['no sender by a DKIM alias whose target does not exist', '', { named: { 's1._domainkey': dangling } }],
    ['a token as a past verification', 'verified_service socially medium', { txt: ['Socially-Verification=abc'] }],
    ['no token in the middle of a text', '', { txt: ['x socially-verification=abc'] }],
  ]);
  it('a vendor that _dmarc is delegated to by CNAME', () =>
    shows(dmarcer, {
      dmarc: { status: 'found', records: ['v=DMARC1; p=none'], aliases: ['example.com.rua.dmarcer.test'] },
    }));
  it('half the score for an SPF policy that receivers cannot evaluate', () =>
    shows('email_sending sendy low', { txt: [...spf('sendy.test'), 'v=spf1 -all'] }));
  it('a sender that an unknown host’s policy includes, with less confidence', () =>
    shows('email_sending sendy medium', {
      txt: spf('_spf.reseller.test'),
      spf: { ...reseller, 'deeper.reseller.test': ['v=spf1 ip4:192.0.2.1 include:sendy.test ~all'] },
    }));
  it('no sender that a known provider’s own policy includes', () =>
    shows('email googly high', {
      mx: googlyMx,
      txt: spf(GOOGLY),
      spf: { [GOOGLY]: ['v=spf1 include:sendy.test ~all'] },
    }));
  it('nothing where policies include each other', () =>
    shows('', {
      txt: spf('a.test'),
      spf: { 'a.test': ['v=spf1 include:b.test ~all'], 'b.test': ['v=spf1 include:a.test redirect=__proto__ ~all'] },
    }));
  it('counts a dangling DKIM alias where something else shows the sender', () => {
    const { services } = profileOf({ named: { 's1._domainkey': dangling }, txt: spf('sendy.test') });
    assert.deepEqual([services.length, services[0]?.evidence.length], [1, 2]);
  });
  it('is unmeasured while a policy behind the record cannot be had', () => {
    const senderWith = (policy: 'timeout' | readonly string[]) =>
      profileOf({ named: noLabels, txt: spf('_spf.reseller.test'), spf: { '_spf.reseller.test': policy } }).roles
        .sender;
    assert.deepEqual([senderWith('timeout'), senderWith(['v=spf1 -all'])], ['unmeasured', 'absent']);
  });
});

describe('a policy that is split', () => {
  const splitAt = (own: string) => ({
    [own]: ['v=spf1 include:_more.example.com ~all'],
    '_more.example.com': ['v=spf1 include:sendy.test ~all'],
  });
  it('by an include into names of the domain’s own is one policy', () =>
    shows('email_sending sendy high', { txt: spf('_spf.example.com'), spf: splitAt('_spf.example.com') }));
  it('by a redirect into names of the domain’s own is one policy', () =>
    shows('email_sending sendy high', { txt: ['v=spf1 redirect=_spf.example.com'], spf: splitAt('_spf.example.com') }));
  it('into names of another owner is the policy of that owner', () =>
    shows('email_sending sendy medium', { txt: spf('_spf.notexample.com'), spf: splitAt('_spf.notexample.com') }));
});
