// The issues of the score's factors: what each costs, and advice for the owner. docs/posture.md has the same table, and
// a
// test compares them. Ids are permanent, because they are stored.

export interface Issue {
  /** Points subtracted from the factor's; never more than it has. */
  readonly cost: number;
  readonly advice: string;
}

/** The full weight of the factor. */
const ALL = Number.POSITIVE_INFINITY;

export const ISSUES = {
  'spf.missing': {
    cost: ALL,
    advice:
      'Publish an SPF record that names the senders of the domain and ends in -all, or v=spf1 -all without senders.',
  },
  'spf.unreadable': {
    cost: ALL,
    advice: 'Correct the beginning of the SPF record: v=spf1 and a space. Receivers see no policy now.',
  },
  'spf.several': { cost: ALL, advice: 'Merge the SPF records into one: with several, receivers use none of them.' },
  'spf.syntax': {
    cost: ALL,
    advice: 'Correct the term of the SPF record that cannot be parsed: one mistake voids the entire policy.',
  },
  'spf.too-many-lookups': {
    cost: ALL,
    advice:
      'Bring the SPF policy to ten look-ups or fewer: remove services no longer in use, or use separate subdomains for senders.',
  },
  'spf.too-many-voids': {
    cost: ALL,
    advice: 'Remove the terms of the SPF record that have no answer: receivers stop after two of them.',
  },
  'spf.dead-include': {
    cost: ALL,
    advice: 'Remove the include or redirect that leads to a name without an SPF policy: it voids the entire policy.',
  },
  'spf.loop': { cost: ALL, advice: 'Break the loop of includes: receivers that follow it stop with an error.' },
  'spf.open': {
    cost: ALL,
    advice: 'Remove +all or the all-encompassing network, or the include that has it: anyone may send for the domain.',
  },
  'spf.neutral': {
    cost: 15,
    advice:
      'End the SPF record in -all, or in ~all while you are still identifying senders: a neutral result protects nothing.',
  },
  'spf.softfail': {
    cost: 2,
    advice: 'Enforce a DMARC policy, which makes ~all enough, or change ~all to -all once every sender is listed.',
  },
  'spf.ptr': { cost: 5, advice: 'Replace the ptr mechanism by addresses or includes: receivers may ignore it.' },
  'spf.void': {
    cost: 5,
    advice: 'Remove the terms of the SPF record that have no answer, before a third one voids the policy.',
  },
  'spf.wide': { cost: 5, advice: 'Narrow the networks of the SPF record to the addresses that really send.' },
  'spf.needless-senders': {
    cost: 10,
    advice: 'Reduce the SPF record to v=spf1 -all: the domain takes no mail, and its record still permits senders.',
  },
  'spf.not-refusing': {
    cost: ALL,
    advice: 'Publish v=spf1 -all: the domain takes no mail, and nothing should be sent in its name.',
  },
  'dmarc.missing': {
    cost: ALL,
    advice: 'Publish a DMARC record at _dmarc with p=none and a rua address, and move on to quarantine and reject.',
  },
  'dmarc.unreadable': {
    cost: ALL,
    advice: 'Correct the beginning of the record at _dmarc: v=DMARC1 and a semicolon. Receivers see no policy now.',
  },
  'dmarc.several': { cost: ALL, advice: 'Keep one DMARC record: with several, receivers use none of them.' },
  'dmarc.invalid': {
    cost: ALL,
    advice: 'Correct the DMARC record: its policy cannot be parsed, so receivers ignore it.',
  },
  'dmarc.none': {
    cost: 27,
    advice: 'Move from p=none to p=quarantine and then p=reject once the reports show that real mail passes.',
  },
  'dmarc.bad-value': {
    cost: 27,
    advice: 'Correct the p, sp or np that cannot be parsed: receivers treat the record as p=none.',
  },
  'dmarc.inherited-none': {
    cost: 27,
    advice: 'Publish a DMARC record of the domain’s own: the one in force is a parent’s and requests nothing.',
  },
  'dmarc.not-refusing': {
    cost: ALL,
    advice: 'Publish v=DMARC1; p=reject; sp=reject at _dmarc at once: the domain takes no mail and need not send any.',
  },
  'dmarc.not-rejecting': {
    cost: 27,
    advice: 'Set p=reject and sp=reject at once, without t=y: the domain takes no mail and need not send any.',
  },
  'dmarc.only-quarantining': {
    cost: 7,
    advice: 'Move from p=quarantine to p=reject at once: the domain takes no mail and need not send any.',
  },
  'dmarc.quarantine': {
    cost: 7,
    advice: 'Move from p=quarantine to p=reject once the reports show that real mail passes.',
  },
  'dmarc.testing': { cost: 7, advice: 'Remove t=y: receivers are asked to apply one step less than the policy says.' },
  'dmarc.testing-quarantine': { cost: 27, advice: 'Remove t=y: with it receivers treat p=quarantine as p=none.' },
  'dmarc.weak-subdomains': {
    cost: 5,
    advice: 'Make sp and np as strict as p: subdomains can be spoofed now.',
  },
  'dmarc.no-reports': {
    cost: 5,
    advice: 'Add a rua address, so that receivers report the senders that use the domain.',
  },
  'dmarc.bad-address': {
    cost: 5,
    advice:
      'Correct the rua address: reports are sent to mailto: addresses only, and to a host of at least two labels.',
  },
  'dmarc.inherited': {
    cost: 5,
    advice: 'Publish a DMARC record of the domain’s own with a rua address: reports of the parent’s go to its owner.',
  },
  'dmarc.unauthorized-reports': {
    cost: 5,
    advice:
      'Have the report receiver publish its consent below _report._dmarc of its host, or send the reports to an address of the domain.',
  },
  'dkim.weak': { cost: 0, advice: 'Replace DKIM keys below 1,024 bits: receivers do not accept them.' },
  'dkim.short': { cost: 0, advice: 'Replace DKIM keys below 2,048 bits.' },
  'dkim.unusable': { cost: 0, advice: 'Correct or remove the DKIM key that receivers cannot use.' },
  'dkim.testing': { cost: 0, advice: 'Remove t=y from the DKIM key once signing works.' },
  'dnssec.unsigned': { cost: ALL, advice: 'Sign the zone, and have the registrar publish its DS record.' },
  'dnssec.bogus': {
    cost: ALL,
    advice: 'Repair the signatures or the DS record at once: validating resolvers do not answer for the domain.',
  },
  'dnssec.weak': {
    cost: 5,
    advice: 'Roll over to ECDSA P-256 (algorithm 13) or Ed25519 (15), with a SHA-256 digest in the DS record.',
  },
  'dnssec.unvalidated': {
    cost: 5,
    advice: 'Check the chain from the DS record: a validating resolver treats the zone as unsigned.',
  },
  'caa.missing': {
    cost: ALL,
    advice: 'Publish CAA records with the authorities that may issue certificates for the domain.',
  },
  'caa.unrestricted': {
    cost: ALL,
    advice: 'Add an issue property to the CAA records: the present ones restrict no authority.',
  },
  'caa.unknown-critical': {
    cost: 2,
    advice: 'Remove the critical CAA property that no authority knows: no authority may issue now.',
  },
  'mta_sts.missing': {
    cost: ALL,
    advice: 'Publish an MTA-STS record and policy, so that mail cannot be sent to the domain in the clear.',
  },
  'mta_sts.several': { cost: ALL, advice: 'Keep one MTA-STS record: with several, senders use none of them.' },
  'mta_sts.unreadable': {
    cost: ALL,
    advice: 'Correct the beginning of the MTA-STS record: v=STSv1 and a semicolon. Senders see no record now.',
  },
  'mta_sts.invalid': { cost: ALL, advice: 'Correct the id of the MTA-STS record: 1 to 32 letters and digits.' },
  'mta_sts.no-policy': {
    cost: ALL,
    advice: 'Publish the MTA-STS policy file that the record announces: without it the record has no effect.',
  },
  'mta_sts.bad-policy': { cost: ALL, advice: 'Correct the MTA-STS policy file: senders cannot parse it.' },
  'mta_sts.off': {
    cost: ALL,
    advice: 'Set the mode of the MTA-STS policy to testing and then to enforce: mode none disables it.',
  },
  'mta_sts.mx-mismatch': {
    cost: 8,
    advice: 'Name every mail exchange in the MTA-STS policy: with mode enforce, mail to other exchanges is refused.',
  },
  'mta_sts.testing': {
    cost: 5,
    advice: 'Set the mode of the MTA-STS policy to enforce once the TLS reports are clean.',
  },
  'mta_sts.short': { cost: 2, advice: 'Raise max_age of the MTA-STS policy to weeks: senders forget it within a day.' },
  'tls_rpt.missing': {
    cost: ALL,
    advice:
      'Publish a TLS-RPT record with a rua address, to receive reports of mail that cannot be delivered over TLS.',
  },
  'tls_rpt.several': { cost: ALL, advice: 'Keep one TLS-RPT record: with several, senders use none of them.' },
  'tls_rpt.unreadable': {
    cost: ALL,
    advice: 'Correct the beginning of the TLS-RPT record: v=TLSRPTv1 and a semicolon. Senders see no record now.',
  },
  'tls_rpt.no-address': { cost: 3, advice: 'Give the TLS-RPT record a rua address that can receive reports.' },
  'bimi.ineligible': {
    cost: 0,
    advice: 'Enforce DMARC for the domain and its subdomains: receivers do not show the logo without it.',
  },
  'bimi.no-logo': { cost: 0, advice: 'Give the BIMI record an https address of an SVG logo.' },
  'tls.missing': { cost: ALL, advice: 'Offer the web site over HTTPS.' },
  'tls.expired': { cost: ALL, advice: 'Renew the certificate, and automate its renewal.' },
  'tls.not-yet-valid': {
    cost: ALL,
    advice: 'Use the new certificate once it is valid, or set the server’s clock.',
  },
  'tls.name-mismatch': { cost: ALL, advice: 'Use a certificate that names the domain.' },
  'tls.self-signed': { cost: ALL, advice: 'Replace the self-signed certificate with one from a public authority.' },
  'tls.untrusted-root': { cost: ALL, advice: 'Use a certificate from an authority that browsers trust.' },
  'tls.incomplete-chain': { cost: ALL, advice: 'Send the intermediate certificate with the site’s own.' },
  'tls.revoked': { cost: ALL, advice: 'Replace the certificate: it was revoked.' },
  'tls.untrusted': { cost: ALL, advice: 'Replace the certificate with one that browsers accept.' },
  'tls.old-protocol': { cost: 5, advice: 'Offer TLS 1.2 and 1.3, and disable older protocols.' },
  'tls.expires-soon': { cost: 2, advice: 'Renew the certificate now, and find out why it was not renewed in time.' },
  'hsts.missing': { cost: ALL, advice: 'Send Strict-Transport-Security with a max-age of a year over HTTPS.' },
  'hsts.ignored': {
    cost: ALL,
    advice: 'Fix the certificate: browsers ignore Strict-Transport-Security while they do not accept it.',
  },
  'hsts.short': { cost: 3, advice: 'Raise max-age of Strict-Transport-Security to at least 180 days.' },
  'headers.no-csp': { cost: 3, advice: 'Send a Content-Security-Policy that limits where scripts come from.' },
  'headers.report-only-csp': {
    cost: 2,
    advice: 'Enforce the Content-Security-Policy that is only in report-only mode.',
  },
  'headers.weak-csp': { cost: 2, advice: 'Limit scripts in the Content-Security-Policy by host and by nonce or hash.' },
  'headers.sniffing': { cost: 1, advice: 'Send X-Content-Type-Options: nosniff.' },
  'headers.framing': {
    cost: 1,
    advice: 'Restrict framing of the site with frame-ancestors in the Content-Security-Policy.',
  },
  'headers.referrer': {
    cost: 1,
    advice:
      'Choose a Referrer-Policy that does not disclose paths to other sites, such as strict-origin-when-cross-origin.',
  },
  'security_txt.missing': {
    cost: ALL,
    advice: 'Publish /.well-known/security.txt with a contact for vulnerability reports.',
  },
  'security_txt.no-contact': {
    cost: 1,
    advice: 'Give security.txt a Contact that is an https, mailto or tel address.',
  },
  'security_txt.no-expiry': { cost: 1, advice: 'Give security.txt exactly one Expires.' },
  'security_txt.expired': { cost: 1, advice: 'Renew security.txt: its Expires has passed.' },
} as const satisfies Readonly<Record<string, Issue>>;

export type IssueId = keyof typeof ISSUES;
