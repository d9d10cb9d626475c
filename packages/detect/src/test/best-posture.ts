// Evidence of a domain in which every factor of the score has full points; tests break it part by part.
import { readEvidence } from '../evidence/reading.ts';
import { posture } from '../posture/posture.ts';
import type { FactorName, Posture } from '../posture/posture-type.ts';
import type { Rulebook } from '../rulebook/rulebook.ts';
import { type EvidenceParts, evidenceOf } from './evidence-of.ts';

export const postureOf = (parts: EvidenceParts, rulebook?: Rulebook): Posture =>
  posture(readEvidence(evidenceOf(parts)), rulebook);
export const factorIn = ({ factors }: Posture, name: FactorName) => factors.find(({ factor }) => factor === name);
export const factorOf = (parts: EvidenceParts, name: FactorName) => factorIn(postureOf(parts), name);

export const best: EvidenceParts = {
  mx: ['10 mx.example.com'],
  txt: ['v=spf1 mx -all'],
  dmarc: ['v=DMARC1; p=reject; rua=mailto:d@example.com'],
  ds: [{ keyTag: 1, algorithm: 13, digestType: 2, digest: 'ab' }],
  caa: ['0 issue certy.test'],
  mtaSts: ['v=STSv1; id=20260101'],
  tlsRpt: ['v=TLSRPTv1; rua=mailto:t@example.com'],
  tls: { issuer: 'Certy' },
  http: {
    headers: {
      'strict-transport-security': 'max-age=31536000',
      'content-security-policy': "default-src 'self'; frame-ancestors 'none'",
      'x-content-type-options': 'nosniff',
    },
  },
  policies: { validation: 'secure' },
  files: {
    mtaSts: { text: 'version: STSv1\nmode: enforce\nmx: mx.example.com\nmax_age: 604800\n' },
    securityTxt: { text: 'Contact: mailto:s@example.com\nExpires: 2026-12-31T00:00:00Z\n' },
  },
};
