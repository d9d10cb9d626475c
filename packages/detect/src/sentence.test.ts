import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Role, ServiceEvidence } from './profile.ts';
import { sentenceOf } from './sentence.ts';

const seen = (source: ServiceEvidence['source'], value: string) => ({ source, value, rule: `x/${source}/y` });

describe('the sentence of a service', () => {
  it('says who does what, and what shows it', () => {
    const evidence = [seen('mx', 'aspmx.l.google.com'), seen('spf', '_spf.google.com')];
    assert.equal(
      sentenceOf({ role: 'mailbox', confidence: 'high', evidence }, 'Google Workspace'),
      'Google Workspace keeps the mail: mail exchange aspmx.l.google.com; SPF names _spf.google.com.',
    );
  });

  it('says how sure it is, and cuts what is long', () => {
    const evidence = [
      seen('header', 'server:  X\n\ty'),
      ...Array.from({ length: 5 }, () => seen('html', 'z'.repeat(300))),
    ];
    const long = `page shows ${'z'.repeat(80)}…`;
    const of = (role: Role, confidence: 'medium' | 'low') => sentenceOf({ role, confidence, evidence }, 'X');
    assert.equal(of('origin', 'medium'), `X probably runs the site: header server: X y; ${long}; ${long}; and 3 more.`);
    assert.match(of('platform', 'low'), /^X perhaps is part of the site: /);
  });
});
