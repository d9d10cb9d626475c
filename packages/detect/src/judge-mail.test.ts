// Who receives, keeps and sends mail: one test for each way in which records are commonly misread.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { detect } from './detect.ts';
import { aliasTo, type EvidenceParts, evidenceOf } from './test/evidence-of.ts';
import { linesOf, testRulebook } from './test/rulebook-of.ts';

const profileOf = (parts: EvidenceParts) => detect(evidenceOf(parts), testRulebook);
const servicesOf = (parts: EvidenceParts) => linesOf(profileOf(parts).services);

const googlyMx = ['1 aspmx.l.googly.test', '5 alt1.aspmx.l.googly.test'];
const guardMx = ['10 mxa.guard.test', '10 mxb.guard.test'];

describe('the mailbox', () => {
  it('is whose exchange receives the mail', () => {
    assert.deepEqual(servicesOf({ mx: googlyMx }), ['email googly high']);
  });

  it('is corroborated by its own SPF include, which then is no service of its own', () => {
    const { services } = profileOf({ mx: googlyMx, txt: ['v=spf1 include:_spf.googly.test -all'] });
    assert.deepEqual(linesOf(services), ['email googly high']);
    assert.equal(services[0]?.score, 0.97);
  });

  it('is not the gateway before it', () => {
    const { services, roles } = profileOf({ mx: guardMx });
    assert.deepEqual(linesOf(services), ['email_security guard high']);
    assert.equal(roles.mailbox, 'blocked');
  });

  it('is not the forwarding service before it', () => {
    assert.deepEqual(servicesOf({ mx: ['10 mx1.forwarder.test'] }), ['email_security forwarder high']);
  });

  it('behind a gateway is found by its DKIM selector', () => {
    const named = { 'selector1._domainkey': aliasTo('selector1-example-com._domainkey.acme.onmicro.test') };
    assert.deepEqual(servicesOf({ mx: guardMx, named }), ['email micro medium', 'email_security guard high']);
  });

  it('behind a gateway is found by autodiscover', () => {
    const named = { autodiscover: aliasTo('autodiscover.micro.test') };
    assert.deepEqual(servicesOf({ mx: guardMx, named }), ['email micro medium', 'email_security guard high']);
  });

  it('behind a gateway is found by autodiscover and DKIM together with high confidence', () => {
    const named = {
      autodiscover: aliasTo('autodiscover.micro.test'),
      'selector1._domainkey': aliasTo('x.onmicro.test'),
    };
    assert.deepEqual(servicesOf({ mx: guardMx, named }), ['email micro high', 'email_security guard high']);
  });

  it('behind a gateway is only hinted at by an SPF include, which surely shows a sender', () => {
    assert.deepEqual(servicesOf({ mx: guardMx, txt: ['v=spf1 include:spf.micro.test -all'] }), [
      'email micro low',
      'email_security guard high',
      'email_sending micro high',
    ]);
  });

  it('behind a gateway stays unknown where two includes hint at it equally', () => {
    assert.deepEqual(
      servicesOf({ mx: guardMx, txt: ['v=spf1 include:spf.micro.test include:_spf.googly.test -all'] }),
      ['email_security guard high', 'email_sending googly high', 'email_sending micro high'],
    );
  });

  it('behind a gateway goes by the account token where one of two includes has one', () => {
    const txt = ['v=spf1 include:spf.micro.test include:_spf.googly.test -all', 'googly-account=1'];
    assert.ok(servicesOf({ mx: guardMx, txt }).includes('email googly medium'));
  });

  it('goes by two kinds of names and not by an include of another provider, which one kind does not outweigh', () => {
    const dkim = { 'selector1._domainkey': aliasTo('x.onmicro.test') };
    const both = { ...dkim, autodiscover: aliasTo('autodiscover.micro.test') };
    const txt = ['v=spf1 include:_spf.googly.test -all'];
    const others = ['email_security guard high', 'email_sending googly high'];
    assert.deepEqual(servicesOf({ mx: guardMx, named: both, txt }), ['email micro high', ...others]);
    assert.deepEqual(servicesOf({ mx: guardMx, named: dkim, txt }), others);
    assert.deepEqual(servicesOf({ mx: guardMx, named: dkim, txt: 'timeout' }), ['email_security guard high']);
  });

  it('is not where an SPF include points without a gateway: that is a sender', () => {
    assert.deepEqual(servicesOf({ mx: ['10 mail.example.com'], txt: ['v=spf1 include:_spf.googly.test -all'] }), [
      'email_sending googly high',
    ]);
  });

  it('is not a second provider whose DKIM or include stands beside the exchange of the first', () => {
    const named = { 'selector1._domainkey': aliasTo('x.onmicro.test') };
    assert.deepEqual(servicesOf({ mx: googlyMx, named, txt: ['v=spf1 include:spf.micro.test -all'] }), [
      'email googly high',
      'email_sending micro high',
    ]);
  });

  it('is not shown by an account token alone', () => {
    assert.deepEqual(servicesOf({ mx: ['10 mail.example.com'], txt: ['googly-account=1'] }), []);
  });

  it('is two where two providers have exchanges of equal preference', () => {
    assert.deepEqual(servicesOf({ mx: ['10 aspmx.l.googly.test', '10 a.mail.micro.test'] }), [
      'email googly high',
      'email micro high',
    ]);
  });

  it('is not a backup exchange of another provider', () => {
    assert.deepEqual(servicesOf({ mx: ['10 a.mail.micro.test', '50 aspmx.l.googly.test'] }), ['email micro high']);
  });

  it('is a less preferred exchange behind a gateway, with low confidence', () => {
    assert.deepEqual(servicesOf({ mx: [...guardMx, '50 a.mail.micro.test'] }), [
      'email micro low',
      'email_security guard high',
    ]);
  });

  it('at a vanity exchange is known by its network only', () => {
    const addresses = [{ use: 'mail' as const, asn: 64501 }];
    assert.deepEqual(servicesOf({ mx: ['10 mail.example.com'], addresses }), ['email vpshost medium']);
    assert.deepEqual(servicesOf({ mx: guardMx, addresses }), ['email_security guard high']);
  });

  it('is absent under a null MX, whatever else is published', () => {
    const named = { autodiscover: aliasTo('autodiscover.micro.test') };
    const { services, roles } = profileOf({ mx: ['0 '], named, txt: ['v=spf1 include:spf.micro.test -all'] });
    assert.deepEqual(linesOf(services), ['email_sending micro high']);
    assert.equal(roles.mailbox, 'absent');
  });

  it('is absent where there is no MX at all', () => {
    assert.equal(profileOf({ mx: 'empty' }).roles.mailbox, 'absent');
  });

  it('is not shown by a verification residue among the exchanges', () => {
    const { services, roles } = profileOf({ mx: ['0 ms12345678.msv1.invalid'] });
    assert.deepEqual(services, []);
    assert.equal(roles.mailbox, 'absent');
    assert.deepEqual(servicesOf({ mx: ['0 ms1.msv1.invalid', '10 aspmx.l.googly.test'] }), ['email googly high']);
  });

  it('at an unknown exchange is absent, and not hidden by a vendor that only reads reports', () => {
    const named = Object.fromEntries(testRulebook.probeLabels.map((label) => [label, 'nxdomain' as const]));
    const dmarc = ['v=DMARC1; p=none; rua=mailto:x@rua.dmarcer.test'];
    const { services, roles } = profileOf({
      mx: ['10 mail.example.com'],
      dmarc,
      named,
      addresses: [{ asn: 64511 }, { asn: 64511, use: 'mail' }],
    });
    assert.deepEqual(linesOf(services), ['email_security dmarcer high']);
    assert.equal(roles.mailbox, 'absent');
  });

  it('is unmeasured when the MX look-up failed, however much else was seen', () => {
    const { services, roles } = profileOf({ mx: 'timeout', txt: ['v=spf1 include:spf.micro.test -all'] });
    assert.deepEqual(services, []);
    assert.equal(roles.mailbox, 'unmeasured');
  });

  it('is not moved to whoever DKIM or an include names while the exchange cannot be looked up', () => {
    const named = { autodiscover: aliasTo('autodiscover.micro.test') };
    const { services, roles } = profileOf({ mx: 'servfail', named, txt: ['v=spf1 include:_spf.googly.test -all'] });
    assert.deepEqual(services, []);
    assert.deepEqual([roles.mailbox, roles.sender], ['unmeasured', 'unmeasured']);
  });

  it('is not hinted at while a selector that would show it cannot be looked up', () => {
    const txt = ['v=spf1 include:_spf.googly.test include:sendy.test -all'];
    const { services, roles } = profileOf({ mx: guardMx, txt, named: { 'selector1._domainkey': 'timeout' } });
    assert.deepEqual(linesOf(services), ['email_security guard high', 'email_sending sendy high']);
    assert.equal(roles.sender, 'unmeasured');
  });
});

describe('a gateway', () => {
  it('is shown by its exchange and corroborated by its include', () => {
    const { services } = profileOf({ mx: guardMx, txt: ['v=spf1 include:spf.guard.test -all'] });
    assert.deepEqual(linesOf(services), ['email_security guard high']);
    assert.equal(services[0]?.score, 0.98);
  });

  it('is not shown by its include alone, which lets it send', () => {
    assert.deepEqual(servicesOf({ mx: googlyMx, txt: ['v=spf1 include:spf.guard.test -all'] }), [
      'email googly high',
      'email_sending guard high',
    ]);
  });

  it('does not become a sender while its exchange or its reports cannot be looked up', () => {
    for (const parts of [{ mx: 'timeout' }, { dmarc: 'timeout' }] as const) {
      const { services, roles } = profileOf({ ...parts, txt: ['v=spf1 include:spf.guard.test -all'] });
      assert.deepEqual(services, []);
      assert.equal(roles.sender, 'unmeasured');
    }
  });

  it('is low as a backup exchange', () => {
    assert.ok(servicesOf({ mx: ['10 mail.example.com', '90 backup.guard.test'] }).includes('email_security guard low'));
  });
});

describe('record vendors and senders', () => {
  it('shows a vendor that hosts the SPF record, or takes the reports', () => {
    assert.deepEqual(servicesOf({ txt: ['v=spf1 include:%{i}._ip.%{h}._spf.dmarcer.test -all'] }), [
      'email_security dmarcer high',
    ]);
    assert.deepEqual(servicesOf({ dmarc: ['v=DMARC1; p=none; rua=mailto:x@rua.dmarcer.test'] }), [
      'email_security dmarcer high',
    ]);
  });

  it('shows a vendor that _dmarc is delegated to by CNAME', () => {
    const dmarc = {
      status: 'found' as const,
      records: ['v=DMARC1; p=none'],
      aliases: ['example.com.rua.dmarcer.test'],
    };
    assert.deepEqual(servicesOf({ dmarc }), ['email_security dmarcer high']);
  });

  it('shows a sender by include, and by include and DKIM almost surely', () => {
    const txt = ['v=spf1 include:sendy.test -all'];
    assert.deepEqual(servicesOf({ txt }), ['email_sending sendy high']);
    assert.deepEqual(servicesOf({ named: { 's1._domainkey': aliasTo('s1.dkim.sendy.test') } }), [
      'email_sending sendy high',
    ]);
  });

  it('halves what an SPF policy says that receivers cannot evaluate', () => {
    assert.deepEqual(servicesOf({ txt: ['v=spf1 include:sendy.test -all', 'v=spf1 -all'] }), [
      'email_sending sendy low',
    ]);
  });

  it('shows a sender that an unknown host’s policy includes, with less confidence', () => {
    const txt = ['v=spf1 include:_spf.reseller.test -all'];
    const spf = { '_spf.reseller.test': ['v=spf1 include:deeper.reseller.test ~all'] };
    const deeper = { ...spf, 'deeper.reseller.test': ['v=spf1 ip4:192.0.2.1 include:sendy.test ~all'] };
    assert.deepEqual(servicesOf({ txt, spf }), []);
    assert.deepEqual(servicesOf({ txt, spf: deeper }), ['email_sending sendy medium']);
  });

  it('does not show those whom a known provider’s own policy includes', () => {
    const spf = { '_spf.googly.test': ['v=spf1 include:sendy.test ~all'] };
    assert.deepEqual(servicesOf({ mx: googlyMx, txt: ['v=spf1 include:_spf.googly.test ~all'], spf }), [
      'email googly high',
    ]);
  });

  it('ends where policies include each other', () => {
    const spf = {
      'a.test': ['v=spf1 include:b.test ~all'],
      'b.test': ['v=spf1 include:a.test redirect=__proto__ ~all'],
    };
    assert.deepEqual(servicesOf({ txt: ['v=spf1 include:a.test ~all'], spf }), []);
  });

  it('is not absent while a policy behind the record cannot be had', () => {
    const senderWith = (policy: 'timeout' | readonly string[]) =>
      profileOf({
        named: Object.fromEntries(testRulebook.probeLabels.map((label) => [label, 'nxdomain'])),
        txt: ['v=spf1 include:_spf.reseller.test ~all'],
        spf: { '_spf.reseller.test': policy },
      }).roles.sender;
    assert.deepEqual([senderWith('timeout'), senderWith(['v=spf1 -all'])], ['unmeasured', 'absent']);
  });

  it('follows a redirect and not one that `all` makes void', () => {
    assert.deepEqual(servicesOf({ txt: ['v=spf1 redirect=sendy.test'] }), ['email_sending sendy high']);
    assert.deepEqual(servicesOf({ txt: ['v=spf1 redirect=sendy.test -all'] }), []);
  });

  it('takes a DKIM alias whose target is not there for left over, unless something else shows the sender', () => {
    const dangling = { status: 'nxdomain' as const, records: [], aliases: ['s1.dkim.sendy.test'] };
    assert.deepEqual(servicesOf({ named: { 's1._domainkey': dangling } }), []);
    const { services } = profileOf({ named: { 's1._domainkey': dangling }, txt: ['v=spf1 include:sendy.test -all'] });
    assert.deepEqual([services.length, services[0]?.evidence.length], [1, 2]);
  });

  it('reads a verification token as a past verification and nothing else', () => {
    assert.deepEqual(servicesOf({ txt: ['Socially-Verification=abc'] }), ['verified_service socially medium']);
  });

  it('does not find a token in the middle of a text', () => {
    assert.deepEqual(servicesOf({ txt: ['x socially-verification=abc'] }), []);
  });
});
